package identity

import (
	"encoding/json"
	"errors"
	"fmt"
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
const ruleForm = `must have lines such as "groups=support operator orders:read,audit", "groups=shop-355 merchant=355 orders:read,orders:write" or "store=* merchant=* orders:read"`

// ParseRules parses rules, one a line: a claim with its value, whom it makes the person,
// and the scopes. Empty lines and those that begin with # do not count.
func ParseRules(text string) ([]Rule, error) {
	var rules []Rule
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		rule, ok := parseRule(strings.Fields(line))
		if !ok {
			return nil, fmt.Errorf("%s; not %q", ruleForm, line)
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, errors.New(ruleForm)
	}
	return rules, nil
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

// personOf returns the person with claims by the first rule that applies, or ErrNoAccess. A
// rule about an e-mail address needs the provider's word that it is verified, unless
// addresses without it are trusted.
func personOf(claims map[string]any, rules []Rule, trustUnverified bool) (token.Person, error) {
	for _, rule := range rules {
		if outer, isEmail := strings.CutSuffix(rule.claim, emailClaim); isEmail && (outer == "" || outer[len(outer)-1] == '.') &&
			!trustUnverified && !slices.Equal(valuesOf(claims, outer+"email_verified"), []string{"true"}) {
			continue // whoever signs in may have typed the address of somebody else
		}
		for _, value := range valuesOf(claims, rule.claim) {
			person := token.Person{Name: nameOf(claims), Operator: rule.operator, MerchantID: rule.merchantID, Scopes: rule.scopes}
			if rule.value == anyValue {
				id, ok := order.ParseID(value)
				if !ok || id == 0 {
					continue
				}
				person.MerchantID = id
				return person, nil
			}
			if value == rule.value {
				return person, nil
			}
		}
	}
	return token.Person{}, ErrNoAccess
}

// valuesOf returns the values of a claim as text: one, or those of a list. A claim inside
// of others is named with dots, as realm_access.roles.
func valuesOf(claims map[string]any, name string) []string {
	claim, ok := claims[name]
	if outer, inner, nested := strings.Cut(name, "."); !ok && nested {
		object, _ := claims[outer].(map[string]any)
		return valuesOf(object, inner)
	}
	list, isList := claim.([]any)
	if !isList {
		list = []any{claim}
	}
	var values []string
	for _, value := range list {
		switch value := value.(type) {
		case string:
			values = append(values, value)
		case bool:
			values = append(values, strconv.FormatBool(value))
		case json.Number:
			values = append(values, value.String())
		}
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
