package compress

import "strings"

// absent is the weight of a coding that the header does not name.
const absent = -1

// Accepted reports whether a client accepts gzip (RFC 9110, 12.5.3) and prefers
// it to, or rates it the same as, an uncompressed response. headers are the
// values of Accept-Encoding. A coding with a malformed weight is ignored.
func Accepted(headers []string) bool {
	gzip, identity, others := absent, absent, absent
	for _, header := range headers {
		for element := range strings.SplitSeq(header, ",") {
			coding, parameters, _ := strings.Cut(element, ";")
			weight, ok := parseWeight(parameters)
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
	if gzip == absent {
		gzip = others
	}
	if identity == absent {
		identity = others
	}
	return gzip > 0 && gzip >= identity
}

// parseWeight parses the weight of a coding, in thousandths. Without a weight it
// returns 1000. ok is false if the parameters are not a valid weight.
func parseWeight(parameters string) (weight int, ok bool) {
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
