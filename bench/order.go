package main

import (
	"time"

	"merchantorders/internal/ingest/ingesttest"
)

// The parts of the reference of an order, for wrk, which puts the number in.
const (
	referencePrefix       = "SF-2026-"
	referenceNumberFormat = "%07d"
)

// object is a JSON object.
type object = map[string]any

// orderDocument returns the order document with a number, from 1: JSON of 1.5
// to 2.6 KB on one line. The number alone decides about everything but the
// arguments.
func orderDocument(number int, merchantID int64, state string, created time.Time) []byte {
	return ingesttest.Document(number, func(o object) {
		o["merchantId"], o["state"] = merchantID, state
		o["createdAt"], o["expiresAt"] = created.Format(time.RFC3339), created.Add(48*time.Hour).Format(time.RFC3339)
	})
}
