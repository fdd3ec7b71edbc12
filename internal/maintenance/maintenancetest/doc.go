// Package maintenancetest creates installations for tests, on every database
// and every storage, fills them with rows of every kind, and dumps them for
// comparison. It does not depend on the commands under test except check.
package maintenancetest
