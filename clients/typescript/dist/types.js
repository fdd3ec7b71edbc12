/*! Code generated from openapi/v2.yaml by scripts/generate. DO NOT EDIT. */
export {};
