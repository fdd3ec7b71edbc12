package demo

// Everything in this file is invented, or too common to name anybody. Phone numbers
// and tax numbers are of ranges that are not assigned, barcodes of the range for use
// within a shop.

// person is a customer. email is the part before the @.
type person struct{ first, last, email string }

var greeks = []person{
	{"Χριστίνα", "Βλάχου", "christina.vlachou"}, {"Χρήστος", "Γεωργίου", "christos.georgiou"}, {"Σοφία", "Σταματάκη", "sofia.stamataki"},
	{"Ελένη", "Νικολαΐδου", "eleni.nikolaidou"}, {"Γιώργος", "Παπαδόπουλος", "giorgos.papadopoulos"}, {"Δήμητρα", "Ρήγα", "dimitra.riga"},
	{"Θανάσης", "Καραγιάννης", "thanasis.karagiannis"}, {"Βασιλική", "Μακρή", "vasiliki.makri"}, {"Ιωάννα", "Αντωνίου", "ioanna.antoniou"},
	{"Δημήτρης", "Δημητριάδης", "dimitris.dimitriadis"}, {"Αντώνης", "Οικονόμου", "antonis.oikonomou"}, {"Μιχάλης", "Νικολαΐδης", "michalis.nikolaidis"},
	{"Γεωργία", "Παπαδοπούλου", "georgia.papadopoulou"}, {"Αγγελική", "Λάμπρου", "angeliki.lamprou"}, {"Παναγιώτης", "Μακρής", "panagiotis.makris"},
	{"Γιάννης", "Βλάχος", "giannis.vlachos"},
}

var latins = []person{
	{"Anna", "Lindqvist", "anna.lindqvist"}, {"Zoë", "O'Hara", "zoe.ohara"}, {"Łukasz", "Müller", "lukasz.muller"}, {"John", "Smith-Jones", "john.smith-jones"},
}

// place is where orders are delivered. area and postCode are the first digits.
type place struct{ city, postCode, region, regionCode, area, country, countryCode, currency string }

var greekPlaces = []place{
	{"Αθήνα", "11", "Αττική", "ATT", "210", "Ελλάδα", "GR", "EUR"}, {"Πειραιάς", "18", "Αττική", "ATT", "210", "Ελλάδα", "GR", "EUR"},
	{"Χαλάνδρι", "15", "Αττική", "ATT", "210", "Ελλάδα", "GR", "EUR"}, {"Θεσσαλονίκη", "54", "Θεσσαλονίκη", "THE", "231", "Ελλάδα", "GR", "EUR"},
	{"Πάτρα", "26", "Αχαΐα", "ACH", "261", "Ελλάδα", "GR", "EUR"}, {"Ηράκλειο", "71", "Ηράκλειο", "HER", "281", "Ελλάδα", "GR", "EUR"},
	{"Λάρισα", "41", "Λάρισα", "LAR", "241", "Ελλάδα", "GR", "EUR"}, {"Βόλος", "38", "Μαγνησία", "MAG", "242", "Ελλάδα", "GR", "EUR"},
	{"Ιωάννινα", "45", "Ιωάννινα", "IOA", "265", "Ελλάδα", "GR", "EUR"}, {"Λευκωσία", "10", "Λευκωσία", "LEF", "220", "Κύπρος", "CY", "EUR"},
}

var latinPlaces = []place{
	{"Stockholm", "11", "Stockholms län", "AB", "080", "Sverige", "SE", "SEK"}, {"Köln", "50", "Nordrhein-Westfalen", "NW", "022", "Deutschland", "DE", "EUR"},
}

var (
	greekStreets = []string{"28ης Οκτωβρίου", "Θεμιστοκλέους", "Σολωμού", "Ερμού", "Μιαούλη", "Πατησίων", "Ελευθερίου Βενιζέλου", "Ρήγα Φεραίου", "Αγίου Γεωργίου"}
	latinStreets = []string{"Exempelgatan", "Beispielstraße"}
)

// carrier delivers orders. The locker has a pickup point.
type carrier struct{ name, method, key, delivery, tracking string }

// locker is the carrier whose customers collect their orders.
var locker = carrier{"Kyklos Lockers", "locker", "pickup-point", "Παραλαβή από θυρίδα", "KL"}

var couriers = []carrier{
	{"Petasos Courier", "express", "courier", "Παράδοση επόμενης ημέρας", "PT"},
	{"Petasos Courier", "standard", "courier", "Παράδοση στην πόρτα", "PT"},
	{"Meltemi Express", "standard", "courier", "Παράδοση στην πόρτα", "ME"},
}

var payments = []string{"card", "card", "card", "wallet", "cod", "bank-transfer"}

var notes = []string{"Παράδοση μετά τις 17:00.", "Το κινητό είναι για τον οδηγό.", "Παρακαλώ χτυπήστε το κουδούνι δύο φορές."}

// company requests an invoice.
type company struct{ name, occupation, officeCode, office string }

var companies = []company{
	{"ΑΙΓΑΙΟ ΔΕΙΓΜΑ Ι.Κ.Ε.", "Λιανικό εμπόριο ειδών δώρων", "1101", "Α΄ ΑΘΗΝΩΝ"}, {"ΔΟΚΙΜΗ ΕΚΔΟΤΙΚΗ Α.Ε.", "Εκδόσεις βιβλίων", "4224", "ΚΑΛΑΜΑΡΙΑΣ"},
	{"ΔΕΙΓΜΑ ΣΥΜΒΟΥΛΟΙ Μ.Ι.Κ.Ε.", "Σύμβουλοι επιχειρήσεων", "2331", "Α΄ ΠΑΤΡΩΝ"}, {"ΠΡΟΤΥΠΟ ΕΣΤΙΑΣΗ Ο.Ε.", "Εστιατόριο", "8110", "ΗΡΑΚΛΕΙΟΥ"},
}

// product is what the demo merchant sells. Prices are minor units; before is 0 if the
// product is not on sale. Its numbers follow from its place in the list.
type product struct {
	name          string
	price, before int64
}

var products = []product{
	{`Θήκη σιλικόνης για κινητό 6,1" διάφανη`, 990, 1290}, {"Προστατευτικό οθόνης από γυαλί, 2 τεμάχια", 1390, 0},
	{"Καλώδιο φόρτισης USB-C 2 m, υφασμάτινο", 1190, 1490}, {"Φορτιστής τοίχου 30 W με δύο θύρες", 2490, 0},
	{"Ασύρματα ακουστικά με θήκη φόρτισης", 5990, 7990}, {"Ηχείο χειρός αδιάβροχο 20 W", 6490, 0},
	{"Ποντίκι ασύρματο εργονομικό", 3290, 3990}, {"Πληκτρολόγιο με ελληνικούς χαρακτήρες", 4590, 0},
	{"Βάση φορητού υπολογιστή από αλουμίνιο", 3490, 0}, {"Σακίδιο πλάτης 24 L με θήκη υπολογιστή", 5490, 6990},
	{"Φωτιστικό γραφείου LED με ρύθμιση έντασης", 3890, 0}, {"Σετ 6 ποτήρια νερού 350 ml", 1790, 0},
	{"Μπρίκι ανοξείδωτο για 4 φλιτζάνια", 1450, 0}, {"Τηγάνι αντικολλητικό 28 cm", 2990, 3490},
	{"Σετ μαχαίρια κουζίνας με βάση", 4990, 0}, {"Πετσέτες μπάνιου βαμβακερές, σετ 3 τεμαχίων", 3290, 0},
	{"Σεντόνια διπλά με λάστιχο 160 x 200", 4290, 5290}, {"Επιτραπέζιο παιχνίδι στρατηγικής για 2 έως 4 παίκτες", 3990, 0},
	{"Παζλ 1000 τεμαχίων, λιμάνι στο ηλιοβασίλεμα", 1690, 0}, {"Στρώμα γυμναστικής 180 x 60 cm", 2190, 2590},
	{"Μπουκάλι θερμός 750 ml", 2290, 0}, {"Φακός κεφαλής επαναφορτιζόμενος", 2690, 0},
	{"Ελαιόλαδο εξαιρετικό παρθένο 5 L", 5890, 0}, {"Μέλι θυμαρίσιο 950 g", 1690, 0},
}
