package order_test

import (
	"context"

	"merchantorders/internal/order"
)

func (s *fakeStore) InvoiceByID(ctx context.Context, merchantID, legacyID, invoiceID int64) (string, order.Invoice, error) {
	end, err := s.begin(ctx, "InvoiceByID")
	defer end()
	if err != nil {
		return "", order.Invoice{}, err
	}
	if o := s.find(merchantID, order.ByLegacyID(legacyID)); o != nil {
		for _, e := range o.entries {
			if e.ID == invoiceID && e.status == active {
				return o.head.Reference, e.Invoice, nil
			}
		}
	}
	return "", order.Invoice{}, order.ErrInvoiceNotFound
}

func (s *fakeStore) LinkKey(ctx context.Context) (order.LinkKey, bool, error) {
	end, err := s.begin(ctx, "LinkKey")
	defer end()
	return s.linkKey, s.linkKey != order.LinkKey{}, err
}

func (s *fakeStore) AddLink(ctx context.Context, key order.LinkKey, entry order.AuditEntry) (order.LinkKey, error) {
	end, err := s.begin(ctx, "AddLink")
	defer end()
	if err == nil && s.linkKey == (order.LinkKey{}) {
		s.linkKey = key
	}
	s.audited = append(s.audited, entry)
	return s.linkKey, err
}

func (s *fakeStore) ReplaceLinkKey(ctx context.Context, key order.LinkKey, entry order.AuditEntry) error {
	end, err := s.begin(ctx, "ReplaceLinkKey")
	defer end()
	if err == nil {
		s.linkKey = key
	}
	s.audited = append(s.audited, entry)
	return err
}
