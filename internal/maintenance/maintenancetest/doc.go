// Package maintenancetest makes installations for tests, on every database and every
// storage, fills them with all that an installation can hold, and reads them out
// so that two can be compared.
//
// It must not know how they are copied, backed up or checked.
package maintenancetest
