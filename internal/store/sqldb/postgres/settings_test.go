package postgres

import (
	"net/url"
	"testing"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestPostgresSettings checks the settings of connections, which the URL may
// override. On a cluster each statement is planned for its arguments.
func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	address := testenv.Of(url.Parse(pgtest.Database(t))).Must(t)
	plans := "force_generic_plan"
	if pgtest.Distributed(t) {
		plans = "auto"
	}
	for parameter, test := range map[string]struct{ usual, other string }{
		"plan_cache_mode": {plans, "force_custom_plan"},
		"jit":             {"off", "on"},
		idleTxParameter:   {idleTxTimeout, "7s"},

		"max_parallel_workers_per_gather": {"0", "2"},

		"statement_timeout": {"0", "7s"}, "lock_timeout": {"0", "7s"}, "idle_session_timeout": {"0", "7s"},
	} {
		with := *address
		for _, want := range []string{test.usual, test.other} {
			var got string
			err := openTest(t, with.String()).QueryRow(t.Context(), "SHOW "+parameter, nil, &got)
			if err != nil || got != want {
				t.Errorf("%s is %q with %q, error %v, want %q", parameter, got, with.RawQuery, err, want)
			}
			options := address.Query()
			options.Set(parameter, test.other)
			with.RawQuery = options.Encode()
		}
		options := address.Query()
		options.Set("options", "-c"+parameter+"="+test.other)
		with.RawQuery = options.Encode()
		var got string
		if err := openTest(t, with.String()).QueryRow(t.Context(), "SHOW "+parameter, nil, &got); err != nil || got != test.other {
			t.Errorf("%s is %q with %q, error %v, want %q", parameter, got, with.RawQuery, err, test.other)
		}
	}
}
