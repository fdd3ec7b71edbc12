package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// Rule lets people with a claim in.
type Rule struct {
	claim, value string
	operator     bool
	merchantID   int64 // 0: the value of the claim; not of an operator
	scopes       order.Scope
}

// anyValue stands for every value of a claim, which is the id of a merchant.
const anyValue = "*"

// ruleForm says how a rule is written.
const ruleForm = `must have lines such as groups=support operator orders:read,audit or groups="Shop 355" merchant=355 orders:read,orders:write or store=* merchant=* orders:read`

// ParseRules parses rules, one a line: a claim with its value, whom it makes the person,
// and the scopes. Empty lines and those that begin with # do not count. A word, or a part of
// it, may stand in double quotes.
func ParseRules(text string) ([]Rule, error) {
	var rules []Rule
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words, ok := splitWords(line)
		var rule Rule
		if ok {
			rule, ok = parseRule(words)
		}
		if !ok {
			return nil, fmt.Errorf("%s; not %s", ruleForm, line)
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, errors.New(ruleForm)
	}
	return rules, nil
}

// splitWords splits a line at spaces outside of double quotes, and removes the quotes. Inside
// of them, \" is a quote and \\ a backslash.
func splitWords(line string) (words []string, ok bool) {
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted, begun = !quoted, true
		case !quoted && (c == ' ' || c == '\t'):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		case quoted && c == '\\' && i+1 < len(line) && strings.IndexByte(`"\`, line[i+1]) >= 0:
			i++
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, !quoted
}

func parseRule(words []string) (rule Rule, ok bool) {
	if len(words) != 3 {
		return rule, false
	}
	var target, id string
	rule.claim, rule.value, ok = strings.Cut(words[0], "=")
	target, id, _ = strings.Cut(words[1], "=")
	switch {
	case !ok || rule.claim == "" || rule.value == "":
		return rule, false
	case words[1] == "operator":
		rule.operator = true
	case target == "merchant" && id == anyValue:
	case target == "merchant":
		if rule.merchantID, ok = order.ParseID(id); !ok || rule.merchantID == 0 {
			return rule, false
		}
	default:
		return rule, false
	}
	if anyMerchant := !rule.operator && rule.merchantID == 0; anyMerchant != (rule.value == anyValue) {
		return rule, false
	}
	var err error
	rule.scopes, err = order.ParseScopes(strings.Split(words[2], ","), order.ScopesOf(rule.operator))
	return rule, err == nil
}

const emailClaim = "email"

// personOf returns the person with claims by the first rule that applies, or ErrNoAccess, which
// says what is wrong with which claim, without values, or ErrTooManyGroups. A rule about an e-mail
// address needs the provider's word that it is verified, unless addresses without it are trusted,
// and compares without case.
func personOf(claims map[string]any, rules []Rule, trustUnverified bool) (token.Person, error) {
	var refusal error
	var reasons []string
	for _, rule := range rules {
		values, reason := valuesOf(claims, rule.claim), "has no value of a rule"
		if len(values) == 0 {
			reason = "is missing or empty"
		}
		same := func(value string) bool { return value == rule.value }
		if outer, isEmail := strings.CutSuffix(rule.claim, emailClaim); isEmail && (outer == "" || outer[len(outer)-1] == '.') {
			if len(values) > 0 && !trustUnverified && !slices.Equal(valuesOf(claims, outer+"email_verified"), []string{"true"}) {
				values, reason = nil, "is not verified" // whoever signs in may have typed the address of somebody else
			}
			same = func(value string) bool { return lower(value) == lower(rule.value) }
		}
		if leftOut(claims, rule.claim) {
			refusal = fmt.Errorf("%w (claim %s)", ErrTooManyGroups, rule.claim)
		}
		if reason = rule.claim + " " + reason; !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		for _, value := range values {
			person := token.Person{Name: nameOf(claims), Operator: rule.operator, MerchantID: rule.merchantID, Scopes: rule.scopes}
			if rule.value == anyValue {
				id, ok := order.ParseID(value)
				if !ok || id == 0 {
					continue
				}
				person.MerchantID = id
				return person, nil
			}
			if same(value) {
				return person, nil
			}
		}
	}
	if refusal == nil {
		refusal = fmt.Errorf("%w: %s", ErrNoAccess, strings.Join(reasons, ", "))
	}
	return token.Person{}, refusal
}

// leftOut reports whether the provider names another place for a claim instead of its values
// (OpenID Connect Core, 5.6.2), as Entra ID does for a person in more than 200 groups.
func leftOut(claims map[string]any, name string) bool {
	names, _ := claims["_claim_names"].(map[string]any)
	return names[name] != nil || name == "groups" && claims["hasgroups"] == true
}

// lower returns a text with small Latin letters. The case of others stays: some of them have
// a Latin letter as theirs.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// valuesOf returns the values of a claim as text. A claim inside of others is named with dots,
// as realm_access.roles; each name may have dots itself.
func valuesOf(claims map[string]any, name string) []string {
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '.') {
		claim, ok := claims[name[:end]]
		if object, nested := claim.(map[string]any); nested && end < len(name) {
			if values := valuesOf(object, name[end+1:]); values != nil {
				return values
			}
		} else if ok && end == len(name) {
			return texts(claim)
		}
	}
	return nil
}

// texts returns the values of a claim: one, those of a list, or the names of objects in an
// object, as Zitadel has its roles, or in a list of them.
func texts(claim any) (values []string) {
	switch claim := claim.(type) {
	case []any:
		for _, value := range claim {
			values = append(values, texts(value)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(claim)) {
			if _, ok := claim[name].(map[string]any); ok {
				values = append(values, name)
			}
		}
	case string:
		values = []string{claim}
	case bool:
		values = []string{strconv.FormatBool(claim)}
	case json.Number:
		values = []string{claim.String()}
	}
	return values
}

// nameOf returns the name of the person with claims, for people to read.
func nameOf(claims map[string]any) string {
	for _, claim := range []string{"name", "preferred_username", emailClaim, "sub"} {
		name, _ := claims[claim].(string)
		if name = strings.TrimSpace(name); name != "" && token.LabelProblem(name) == "" {
			return name
		}
	}
	return "?"
}
