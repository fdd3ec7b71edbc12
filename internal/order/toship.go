package order

import (
	"cmp"
	"context"
	"slices"
)

// MaxToShip is how many orders of a state ToShip reads at most.
const MaxToShip = 500

// ShipStates are the states of orders that are accepted and still with the merchant.
var ShipStates = []State{InProcessing, ReadyForShipment}

// ToShip returns the whole orders of a merchant that are accepted and still with it: the
// earliest time of dispatch first, then those without one, oldest first. Of more than
// MaxToShip in a state, they are those that were created first.
func (s *Service) ToShip(ctx context.Context, merchantID int64) ([]Order, error) {
	var orders []Order
	for _, state := range ShipStates {
		read := len(orders)
		for page, err := range s.Export(ctx, ExportQuery{MerchantID: merchantID, State: state, From: NoDay, To: NoDay}) {
			if err != nil {
				return nil, err
			}
			if orders = append(orders, page...); len(orders)-read >= MaxToShip {
				orders = orders[:read+MaxToShip]
				break
			}
		}
	}
	slices.SortFunc(orders, func(a, b Order) int {
		if a.DispatchUntil.IsZero() != b.DispatchUntil.IsZero() {
			return cmp.Compare(b.DispatchUntil.Unix(), a.DispatchUntil.Unix())
		}
		return cmp.Or(a.DispatchUntil.Compare(b.DispatchUntil), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.LegacyID, b.LegacyID))
	})
	return orders, nil
}
