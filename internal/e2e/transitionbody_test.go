package e2e

import (
	"io"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

var longText = strings.Repeat("reason ", 2_000)

// TestActionStatus has the values of status in PUT (v1) and reject (v2), known
// and unknown members.
// Proves decision 5 (status; reason; unknown keys), spec 7.1, spec 7.2.
func TestActionStatus(t *testing.T) {
	accepted, rejected := &state{"in-processing", "G"}, &state{"rejected-by-merchant", "D"}
	tests := []struct {
		name, body string
		// What v1 and v2 make of it: a new state or a refusal.
		v1, v2                 *state
		refusedIn1, refusedIn2 *refusal
	}{
		{"D", `{"status":"D"}`, rejected, rejected, nil, nil},
		{"D with white space around", " \r\n\t{ \"status\" :\t\"D\" } \n", rejected, rejected, nil, nil},
		{"D with unknown members", `{"status":"D","notify_user":"Y","details":{"a":[1,2,{"b":null}]},"":""}`, rejected, rejected, nil, nil},
		{"G", `{"status":"G"}`, accepted, nil, nil, &invalidAction},
		{"G with a reason", `{"status":"G","reason":"nonsense"}`, accepted, nil, nil, &invalidAction},
		{"G with a reason that is no text", `{"status":"G","reason":5}`, accepted, nil, nil, nil},
		{"G with unknown members", `{"notify_user":1,"status":"G","state":"D"}`, accepted, nil, nil, &invalidAction},

		{"no status", `{}`, nil, rejected, &invalidBody, nil},
		{"no body", ``, nil, rejected, &invalidBody, nil},
		{"no status but a reason", `{"reason":"damaged"}`, nil, rejected, &invalidBody, nil},
		{"Status", `{"Status":"D"}`, nil, nil, &invalidBody, &invalidBody},
		{"Reason with G", `{"status":"G","Reason":"damaged"}`, nil, nil, &invalidBody, &invalidBody},
		{"status with a space", `{"status ":"D"}`, nil, rejected, &invalidBody, nil},

		{"d", `{"status":"d"}`, nil, nil, &invalidAction, &invalidAction},
		{"O", `{"status":"O"}`, nil, nil, &invalidAction, &invalidAction},
		{"empty", `{"status":""}`, nil, nil, &invalidAction, &invalidAction},
		{"D and a space", `{"status":"D "}`, nil, nil, &invalidAction, &invalidAction},
		{"name of a state", `{"status":"rejected-by-merchant"}`, nil, nil, &invalidAction, &invalidAction},
		{"null", `{"status":null}`, nil, nil, &invalidAction, &invalidAction},
		{"number", `{"status":1}`, nil, nil, &invalidAction, &invalidAction},
	}
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, len(tests))
			for i, test := range tests {
				to, refused := test.v1, test.refusedIn1
				if v.name == "v2" {
					to, refused = test.v2, test.refusedIn2
				}
				t.Run(test.name, func(t *testing.T) {
					r := v.rejectWith(orders[i], test.body)
					switch {
					case to != nil:
						wantMoved(t, s, v, orders[i], r, *to)
					case refused != nil:
						wantUnmoved(t, s, v, orders[i], r, *refused)
					}
				})
			}
		})
	})
}

// TestActionBodySize has the limit of 64 KiB on the body of an action.
// Proves decision 5 (size and time of bodies).
func TestActionBodySize(t *testing.T) {
	const limit = 64 << 10
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			body := `{"status":"D"}`
			body += strings.Repeat(" ", limit-len(body))
			wantUnmoved(t, s, v, o, v.rejectWith(o, body+" "), invalidBody)
			streamed := v.rejectWith(o, "")
			streamed.stream = io.MultiReader(strings.NewReader(body + " "))
			wantUnmoved(t, s, v, o, streamed, invalidBody)
			wantMoved(t, s, v, o, v.rejectWith(o, body), state{"rejected-by-merchant", "D"})
		})
	})
}

// TestAcceptBody sees that a body sent with the accept of v2 is not looked at.
// Proves decision 5 (bodies, strict parsing).
func TestAcceptBody(t *testing.T) {
	bodies := []struct{ name, body string }{
		{"none", ""}, {"empty object", "{}"}, {"object", `{"status":"D"}`}, {"array", "[1]"}, {"not JSON", "garbage"},
		{"cut off", `{"status":`}, {"null", "null"}, {"invalid UTF-8", "\xff\xfe"}, {"large", strings.Repeat("x", 3<<20)},
	}
	onSQLite(t, func(t *testing.T, s *service) {
		orders := s.addMany(t, len(bodies))
		for i, test := range bodies {
			t.Run(test.name, func(t *testing.T) {
				wantMoved(t, s, v2, orders[i], patch(v2.order(orders[i])+"/accept", test.body), state{"in-processing", "G"})
			})
		}
	})
}

// TestActionContentType sees that the header does not decide how a body is
// read: legacy clients send all kinds.
// Proves decision 5 (Content-Type).
func TestActionContentType(t *testing.T) {
	types := []string{"", "application/json", "application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded"}
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, len(types))
			for i, kind := range types {
				t.Run(kind, func(t *testing.T) {
					r := v.reject(orders[i], `"reason":"damaged"`).with("Content-Type", kind)
					wantMoved(t, s, v, orders[i], r, state{"rejected-by-merchant", "D"})
				})
			}
		})
	})
}

// TestActionChecks has the order of checks of accept and reject:
// token, body, order, condition, reason, state. If a request has two faults, the response names
// the earlier one.
// Proves decision 5 (order of checks; bodies, strict parsing; word codes).
func TestActionChecks(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		readOnly := s.newToken(t, "orders:read", "invoices:write")
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, 2)
			fresh, rejected := orders[0], orders[1]
			missing := placed{number: 999_999_999, reference: "missing"}
			s.do(t, v.reject(rejected)).want(t, 200, v.done())
			badReason := `"reason":"nonsense"`
			tests := []struct {
				name string
				r    request
				o    placed
				want refusal
			}{
				{"token before body", v.rejectWith(fresh, "garbage").as(noAuth), fresh, unauthorized},
				{"token before order", v.reject(missing).as(noAuth), missing, unauthorized},
				{"scope before body", v.rejectWith(fresh, "garbage").by(readOnly), fresh, forbidden},
				{"scope before order", v.accept(missing).by(readOnly), missing, forbidden},
				{"body before order", v.rejectWith(missing, "garbage"), missing, invalidBody},
				{"action before order", v.rejectWith(missing, `{"status":"X"}`), missing, invalidAction},
				{"reason's type before order", v.reject(missing, `"reason":1`), missing, invalidBody},
				{"body before state", v.rejectWith(rejected, "[]"), rejected, invalidBody},
				{"two bodies", v.rejectWith(fresh, `{"status":"D"} garbage`), fresh, invalidBody},
				{"a status twice", v.rejectWith(fresh, `{"status":"D","status":"D"}`), fresh, invalidBody},
				{"invalid UTF-8", v.rejectWith(fresh, "{\"status\":\"D\",\"x\":\"\xff\"}"), fresh, invalidBody},
				{"half of a surrogate pair", v.rejectWith(fresh, `{"status":"D","x":"\ud800"}`), fresh, invalidBody},
				{"order before reason", v.reject(missing, badReason), missing, orderNotFound},
				{"order", v.accept(missing), missing, orderNotFound},
				{"reason before state", v.reject(rejected, badReason), rejected, reasonNotValid},
				{"order before condition", v.accept(missing).with("If-Match", `"a"`), missing, orderNotFound},
				{"condition before reason", v.reject(fresh, badReason).with("If-Match", `"a"`), fresh, preconditionFailed},
				{"condition before state", v.accept(rejected).with("If-Match", `"a"`), rejected, preconditionFailed},
				{"reason", v.reject(fresh, badReason), fresh, reasonNotValid},
				{"state", v.reject(rejected, `"reason":"damaged"`), rejected, cannotReject},
			}
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					s.do(t, test.r).wantRefusal(t, v, test.want, test.o)
				})
			}
			testenv.Equal(t, "state after all of them", "registered", v2.stateOf(t, s, fresh))
		})
	})
}

// TestErrorCodes has the two settings of decision 5 for the codes about which
// the specification disagrees with itself. v1 and all other codes are the same.
// Proves decision 5 (error-codes, missing order), spec 7.3.
func TestErrorCodes(t *testing.T) {
	for _, test := range []struct{ setting, accept, reason string }{
		{"samples", "10304", "10301"},
		{"table", "10303", "10306"},
	} {
		t.Run(test.setting, func(t *testing.T) {
			alone(t, sqlite, func(t *testing.T, s *service) {
				orders := s.addMany(t, 2)
				canceled, fresh := s.addOne(t, document{"state": "canceled"}), orders[0]
				missing := placed{number: 1, reference: "missing"}
				inEachVersion(t, func(t *testing.T, v version) {
					s.do(t, v.accept(canceled)).wantRefusal(t, v, coded(400, "Cannot Accept Order", test.accept, "Cannot Accept Order"), canceled)
					s.do(t, v.reject(fresh, `"reason":"x"`)).wantRefusal(t, v, coded(400, "Reason Is Not Valid", test.reason, "The reason is not valid"), fresh)
					s.do(t, v.reject(canceled)).wantRefusal(t, v, cannotReject, canceled)
					s.do(t, v.rejectWith(fresh, `{"status":"x"}`)).wantRefusal(t, v, invalidAction, fresh)
					s.do(t, v.accept(missing)).wantRefusal(t, v, orderNotFound, missing)
					s.do(t, v.reject(missing)).wantRefusal(t, v, orderNotFound, missing)
					s.do(t, get(v.order(missing))).wantRefusal(t, v, orderNotFound, missing)
				})
			}, "--error-codes", test.setting)
		})
	}
}
