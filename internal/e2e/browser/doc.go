// Package browser looks at the pages below /docs with a real browser: every
// operation is there to read, a request can be tried out, nothing comes from
// elsewhere, and a phone shows it all.
//
// It needs Debian's chromium, and fails without it. It must not know how the
// pages are made.
package browser
