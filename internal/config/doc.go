// Package config is what an operator may set: every setting with its meaning,
// unit and default, where it is read from, and one Validate that finds all
// faults at once, before anything is created.
//
// It must not know what the settings are used for: it opens no database, makes
// no folder and listens on no port.
package config
