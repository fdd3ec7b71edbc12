package commands_test

import "testing"

func TestDistributeNeedsPostgres(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"the data folder": {"distribute"},
		"a file":          {"distribute", "--database", "sqlite://" + t.TempDir() + "/orders.db"},
	} {
		got := folder(t).Run(t, "", args...)
		want := "merchant-orders: --database (MERCHANT_ORDERS_DATABASE): must be a PostgreSQL address: " +
			"only a PostgreSQL database can be distributed over a cluster\n"
		if got.Code != 2 || got.Stderr != want || got.Stdout != "" {
			t.Errorf("%s: got %+v, want exit code 2 and %q", name, got, want)
		}
	}
}
