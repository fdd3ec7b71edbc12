// Package transfer takes whole installations from one place to another: Copy to
// another database and another storage while the service goes on, Backup of a
// running embedded installation and Restore of what was backed up. Each proves in
// the end that nothing was lost on the way.
//
// It must not know rows and columns, which package store moves as they are, nor
// any rule of the domain.
package transfer
