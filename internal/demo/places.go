package demo

// place is where goods are sent.
type place struct {
	city, region, regionCode string
	country, countryCode     string
	postCodes                string // the first digits
	landline                 string // the first digits of a number that is nobody's
}

const (
	greece = "Ελλάδα"
	cyprus = "Κύπρος"
)

// places has the big ones more than once, as orders come from them.
var places = []place{
	{"Αθήνα", "Αττική", "ATT", greece, "GR", "11", "2100000"},
	{"Αθήνα", "Αττική", "ATT", greece, "GR", "10", "2100000"},
	{"Χαλάνδρι", "Αττική", "ATT", greece, "GR", "152", "2100000"},
	{"Νέα Ιωνία", "Αττική", "ATT", greece, "GR", "142", "2100000"},
	{"Πειραιάς", "Αττική", "ATT", greece, "GR", "185", "2100000"},
	{"Γλυφάδα", "Αττική", "ATT", greece, "GR", "166", "2100000"},
	{"Θεσσαλονίκη", "Θεσσαλονίκη", "THE", greece, "GR", "546", "2310000"},
	{"Καλαμαριά", "Θεσσαλονίκη", "THE", greece, "GR", "551", "2310000"},
	{"Πάτρα", "Αχαΐα", "ACH", greece, "GR", "262", "2610000"},
	{"Ηράκλειο", "Ηράκλειο", "HER", greece, "GR", "713", "2810000"},
	{"Λάρισα", "Λάρισα", "LAR", greece, "GR", "412", "2410000"},
	{"Βόλος", "Μαγνησία", "MAG", greece, "GR", "382", "2421000"},
	{"Ιωάννινα", "Ιωάννινα", "IOA", greece, "GR", "452", "2651000"},
	{"Χανιά", "Χανιά", "CHA", greece, "GR", "731", "2821000"},
	{"Ρόδος", "Δωδεκάνησα", "DOD", greece, "GR", "851", "2241000"},
	{"Καβάλα", "Καβάλα", "KAV", greece, "GR", "653", "2510000"},
	{"Καλαμάτα", "Μεσσηνία", "MES", greece, "GR", "241", "2721000"},
	{"Αλεξανδρούπολη", "Έβρος", "EVR", greece, "GR", "681", "2551000"},
	{"Κέρκυρα", "Κέρκυρα", "KER", greece, "GR", "491", "2661000"},
}

// abroad are the places that orders seldom come from.
var (
	nicosia   = place{"Λευκωσία", "Λευκωσία", "LEF", cyprus, "CY", "10", "2200000"}
	stockholm = place{"Stockholm", "Stockholms län", "AB", "Sverige", "SE", "111", "0800000"}
)

var streets = []string{
	"Πατησίων", "Ερμού", "Ελευθερίου Βενιζέλου", "Κολοκοτρώνη", "28ης Οκτωβρίου", "Αγίου Γεωργίου",
	"Μεγάλου Αλεξάνδρου", "Παπαναστασίου", "Σολωμού", "Καραϊσκάκη", "Ρήγα Φεραίου", "Κύπρου",
	"Εθνικής Αντιστάσεως", "Αριστοτέλους", "Θεμιστοκλέους", "Μιαούλη",
}

// address writes where a person lives, or sends something to.
func (d *dice) address(p person, at place) object {
	street := pick(d, streets)
	if at.countryCode == "SE" {
		street = "Exempelgatan"
	}
	address := object{
		"firstName": p.first, "lastName": p.last,
		"street": street, "streetNumber": d.number(1, 140), "address2": "",
		"city": at.city, "region": at.region, "regionCode": at.regionCode,
		"country": at.country, "countryCode": at.countryCode,
		"postCode": at.postCodes + d.digits(at.postDigits()-len(at.postCodes)),
		"phone":    at.landline + d.digits(3),
	}
	if d.oneIn(4) {
		address["address2"] = d.number(1, 6) + "ος όροφος"
	}
	return address
}

// postDigits is how long post codes are.
func (p place) postDigits() int {
	if p.countryCode == "CY" {
		return 4
	}
	return 5
}
