// Package browser looks at the pages of the service with a real browser.
//
// Below /docs every operation is there to read, and a phone shows it all. The console is
// used as a merchant's staff and operators do: with the mouse, with the keyboard alone and
// without scripts, with hostile data, and next to another merchant. Nothing comes from
// elsewhere.
//
// It needs Debian's chromium, and fails without it; scripts/release-check also has Firefox and
// WebKit. It must not know how the pages are made.
package browser
