package client

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// links are the pages that an answer links to.
type links struct {
	any  bool   // whether it links to pages at all
	next string // query of the next page; empty: there is none
}

// pageLinks reads the Link headers (RFC 8288) of a list that was asked for at
// an address. Only the query of a link counts: scheme and host are the
// service's idea of its address, and the token goes nowhere but to ours.
func pageLinks(header http.Header, address string) (links, error) {
	var found links
	at, err := url.Parse(address)
	if err != nil {
		return links{}, err
	}
	for _, value := range header.Values("Link") {
		for _, link := range splitOutside(value, ',') {
			target, relations := parseLink(link)
			for _, relation := range relations {
				switch strings.ToLower(relation) {
				case "first", "prev":
					found.any = true
				case "next":
					found.any = true
					to, err := at.Parse(target)
					if err != nil || to.RawQuery == "" || !strings.HasSuffix(to.Path, "/orders") {
						return links{}, errors.New("the link to the next page leads elsewhere")
					}
					if to.RawQuery == at.RawQuery {
						return links{}, errors.New("the link to the next page leads to the same one")
					}
					found.next = to.RawQuery
				}
			}
		}
	}
	return found, nil
}

// splitOutside takes a text apart at a separator that is not within <...> or
// "...": a header at commas, a link at semicolons.
func splitOutside(value string, separator byte) []string {
	var parts []string
	begin, inTarget, inQuotes := 0, false, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case inQuotes && c == '\\':
			i++
		case inQuotes:
			inQuotes = c != '"'
		case inTarget:
			inTarget = c != '>'
		case c == '<':
			inTarget = true
		case c == '"':
			inQuotes = true
		case c == separator:
			parts = append(parts, value[begin:i])
			begin = i + 1
		}
	}
	return append(parts, value[begin:])
}

// parseLink reads one link: its target and its relations.
func parseLink(link string) (string, []string) {
	link = strings.TrimSpace(link)
	if !strings.HasPrefix(link, "<") {
		return "", nil
	}
	target, params, ok := strings.Cut(link[1:], ">")
	if !ok {
		return "", nil
	}
	var relations []string
	for _, param := range splitOutside(params, ';') {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") && relations == nil {
			relations = strings.Fields(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return target, relations
}
