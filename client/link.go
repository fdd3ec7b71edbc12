package client

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// links are the page links of a response.
type links struct {
	any  bool   // whether there are page links at all
	next string // query of the next page; empty: none
}

// pageLinks parses the Link headers (RFC 8288) of a list. It uses only the query of
// a link: scheme and host may differ from those of the client's base URL, and the
// client must not send the token to another host.
func pageLinks(header http.Header, address string) (links, error) {
	var found links
	at, err := url.Parse(address)
	if err != nil {
		return links{}, err
	}
	for _, link := range linkForm.FindAllStringSubmatch(strings.Join(header.Values("Link"), ","), -1) {
		for _, relation := range relations(link[2]) {
			switch strings.ToLower(relation) {
			case "first", "prev":
				found.any = true
			case "next":
				found.any = true
				to, err := at.Parse(link[1])
				if err != nil || to.RawQuery == "" || !strings.HasSuffix(to.Path, "/orders") {
					return links{}, errors.New("the link to the next page is not a list of orders")
				}
				if to.RawQuery == at.RawQuery {
					return links{}, errors.New("the link to the next page is the same page")
				}
				found.next = to.RawQuery
			}
		}
	}
	return found, nil
}

var (
	// linkForm matches a link of a Link header: its target and its parameters.
	linkForm = regexp.MustCompile(`<([^>]*)>((?:` + paramForm.String() + `)*)`)
	// paramForm matches a parameter: its name, and its value with or without quotes.
	paramForm = regexp.MustCompile(`\s*;\s*([^\s;,="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))`)
)

// relations returns the values of the first parameter rel.
func relations(params string) []string {
	for _, param := range paramForm.FindAllStringSubmatch(params, -1) {
		if strings.EqualFold(param[1], "rel") {
			return strings.Fields(param[2] + param[3])
		}
	}
	return nil
}
