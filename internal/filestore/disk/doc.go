// Package disk stores invoice files in a folder of the local file system. It
// also provides the staging directory that every storage uses.
package disk
