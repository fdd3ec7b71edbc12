package api_test

import (
	"net/http"
	"testing"
)

// TestCursorsOfFirstRelease reads pages with cursors that version 1.0.0 has given: clients
// page while the service is upgraded. A cursor of another list is refused, as it was.
func TestCursorsOfFirstRelease(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, test := range []struct{ token, path, cursor, other string }{
		{s.merchant, "/v2/orders?itemsPerPage=7", "BMqQqqsN2u5t5qEx4QYsn0Y", "&state=registered"},
		{s.merchant, "/api/orders?status=C&date_from=2026-04-02", "BMqQqqsN2u5thN0iosGRleg", "&date_to=2026-04-03"},
		{s.operator, "/operator/orders?email=buyer@example.com", "ypCqqw3a7m2vg2bFiKbxkw", "&sort=created&merchantId=355"},
		{s.operator, "/operator/orders?merchantId=355&state=registered,completed&dateFrom=2026-04-02", "ypCqqw3a7m0DvuRHvGRrww", "&sort=updated"},
	} {
		s.Send(test.token, "GET", test.path+"&cursor="+test.cursor, "").WantStatus(t, http.StatusOK)
		s.Send(test.token, "GET", test.path+test.other+"&cursor="+test.cursor, "").WantStatus(t, http.StatusBadRequest)
	}
}
