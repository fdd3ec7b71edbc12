// Package config defines the settings of the service: the meaning, unit and
// default of each, its flag and environment variable, and a Validate method that
// reports all invalid settings at once.
//
// It opens no database, creates no folder and listens on no port.
package config
