"use strict";
/*! Code generated from openapi/v2.yaml by scripts/generate. DO NOT EDIT. */
Object.defineProperty(exports, "__esModule", { value: true });
