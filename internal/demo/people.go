package demo

// name is a name as it is written, and in letters that fit an e-mail address.
type name struct {
	greek, latin string
}

// surname has a form for men and one for women.
type surname struct {
	man, woman name
}

var women = []name{
	{"Μαρία", "maria"}, {"Ελένη", "eleni"}, {"Κατερίνα", "katerina"}, {"Βασιλική", "vasiliki"},
	{"Σοφία", "sofia"}, {"Αγγελική", "angeliki"}, {"Γεωργία", "georgia"}, {"Δήμητρα", "dimitra"},
	{"Ιωάννα", "ioanna"}, {"Χριστίνα", "christina"},
}

var men = []name{
	{"Γιώργος", "giorgos"}, {"Δημήτρης", "dimitris"}, {"Κώστας", "kostas"}, {"Γιάννης", "giannis"},
	{"Νίκος", "nikos"}, {"Παναγιώτης", "panagiotis"}, {"Χρήστος", "christos"}, {"Αντώνης", "antonis"},
	{"Μιχάλης", "michalis"}, {"Θανάσης", "thanasis"},
}

var surnames = []surname{
	{name{"Παπαδόπουλος", "papadopoulos"}, name{"Παπαδοπούλου", "papadopoulou"}},
	{name{"Βλάχος", "vlachos"}, name{"Βλάχου", "vlachou"}},
	{name{"Αγγελόπουλος", "angelopoulos"}, name{"Αγγελοπούλου", "angelopoulou"}},
	{name{"Νικολαΐδης", "nikolaidis"}, name{"Νικολαΐδου", "nikolaidou"}},
	{name{"Γεωργίου", "georgiou"}, name{"Γεωργίου", "georgiou"}},
	{name{"Μακρής", "makris"}, name{"Μακρή", "makri"}},
	{name{"Καραγιάννης", "karagiannis"}, name{"Καραγιάννη", "karagianni"}},
	{name{"Αντωνίου", "antoniou"}, name{"Αντωνίου", "antoniou"}},
	{name{"Σταματάκης", "stamatakis"}, name{"Σταματάκη", "stamataki"}},
	{name{"Οικονόμου", "oikonomou"}, name{"Οικονόμου", "oikonomou"}},
	{name{"Δημητριάδης", "dimitriadis"}, name{"Δημητριάδου", "dimitriadou"}},
	{name{"Λάμπρου", "lamprou"}, name{"Λάμπρου", "lamprou"}},
	{name{"Ρήγας", "rigas"}, name{"Ρήγα", "riga"}},
}

// person is a customer.
type person struct {
	first, last, email, phone string
}

func (d *dice) person() person {
	first, last := pick(d, men), pick(d, surnames).man
	if d.oneIn(2) {
		first, last = pick(d, women), pick(d, surnames).woman
	}
	return person{
		first: first.greek,
		last:  last.greek,
		email: first.latin + "." + last.latin + "@example.com",
		// 690 00 00 000 to 999 is no subscriber's.
		phone: "6900000" + d.digits(3),
	}
}

// company is a customer that asks for an invoice.
type company struct {
	title, occupation     string
	officeCode, officeTax string
}

var companies = []company{
	{"ΑΙΓΑΙΟ ΔΕΙΓΜΑ Ι.Κ.Ε.", "Λιανικό εμπόριο ειδών δώρων", "1101", "Α΄ ΑΘΗΝΩΝ"},
	{"ΠΑΡΑΔΕΙΓΜΑ ΤΕΧΝΙΚΗ Ο.Ε.", "Τεχνικές εργασίες", "4224", "ΚΑΛΑΜΑΡΙΑΣ"},
	{"ΔΟΚΙΜΗ ΕΚΔΟΤΙΚΗ Α.Ε.", "Εκδόσεις βιβλίων", "1104", "Δ΄ ΑΘΗΝΩΝ"},
	{"ΥΠΟΘΕΤΙΚΗ ΕΣΤΙΑΣΗ Ε.Ε.", "Εστιατόριο", "2331", "Α΄ ΠΑΤΡΩΝ"},
	{"ΔΕΙΓΜΑ ΣΥΜΒΟΥΛΟΙ Μ.Ι.Κ.Ε.", "Σύμβουλοι επιχειρήσεων", "8110", "ΗΡΑΚΛΕΙΟΥ"},
}
