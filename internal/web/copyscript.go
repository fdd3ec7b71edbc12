package web

import _ "embed"

// CopyScript adds buttons that copy texts: to the pages of the documents and to the console.
//
//go:embed copy.js
var CopyScript []byte
