package client

import (
	"errors"
	"net/http"
	"net/url"
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
	for _, value := range header.Values("Link") {
		for _, link := range split(value, ',') {
			target, relations := parseLink(link)
			for _, relation := range relations {
				switch strings.ToLower(relation) {
				case "first", "prev":
					found.any = true
				case "next":
					found.any = true
					to, err := at.Parse(target)
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
	}
	return found, nil
}

// split splits a text at a separator outside <...> and "...": a header at commas,
// a link at semicolons.
func split(value string, separator byte) []string {
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

// parseLink parses one link into its target and its relations.
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
	for _, param := range split(params, ';') {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") && relations == nil {
			relations = strings.Fields(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return target, relations
}
