package web

import "strings"

// noWeight is that of a coding that an Accept-Encoding header does not name.
const noWeight = -1

// acceptsGzip reports whether a client takes gzip (RFC 9110, 12.5.3), and at
// least as gladly as an answer that is not compressed. Codings whose weight is
// malformed are as if not named.
func acceptsGzip(headers []string) bool {
	gzip, identity, others := noWeight, noWeight, noWeight
	for _, header := range headers {
		for element := range strings.SplitSeq(header, ",") {
			coding, parameters, _ := strings.Cut(element, ";")
			weight, ok := weightOf(parameters)
			if !ok {
				continue
			}
			switch coding = strings.TrimSpace(coding); {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				gzip = max(gzip, weight)
			case strings.EqualFold(coding, "identity"):
				identity = max(identity, weight)
			case coding == "*":
				others = max(others, weight)
			}
		}
	}
	if gzip == noWeight {
		gzip = others
	}
	if identity == noWeight {
		identity = others
	}
	return gzip > 0 && gzip >= identity
}

// weightOf reads the weight of a coding, in thousandths: 1000 where there is
// none. ok is false when it has not the form of one.
func weightOf(parameters string) (weight int, ok bool) {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1000, true
	}
	name, text, _ := strings.Cut(parameters, "=")
	if !strings.EqualFold(name, "q") || text == "" || text[0] != '0' && text[0] != '1' {
		return 0, false
	}
	weight = int(text[0]-'0') * 1000
	if text = text[1:]; text == "" {
		return weight, true
	}
	if text[0] != '.' || len(text) > len(".000") {
		return 0, false
	}
	for i, unit := 1, 100; i < len(text); i, unit = i+1, unit/10 {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		weight += int(text[i]-'0') * unit
	}
	return weight, weight <= 1000
}
