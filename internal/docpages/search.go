package docpages

import (
	"cmp"
	stdhtml "html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// section is a part of a page that begins with a heading.
type section struct {
	ID, Title string // of the heading; empty: what is above the first one
	Level     int    // of the heading
	Text      string // without tags, in one line
	folded    string // text in lower case
}

var (
	headingForm = regexp.MustCompile(`(?s)<h([23]) id="([^"]+)">(.*?)</h[23]>`)
	inlineForm  = regexp.MustCompile(`</?(?:a|b|code|em|strong|span)\b[^>]*>`)
	tagForm     = regexp.MustCompile(`<[^>]*>`)
)

// sectionsOf divides the HTML of a page at its headings of level 2 and 3.
func sectionsOf(body string) []section {
	at := section{}
	var all []section
	end := func(text string) {
		at.Text = plain(text)
		at.folded = strings.ToLower(at.Text)
		all = append(all, at)
	}
	start := 0
	for _, m := range headingForm.FindAllStringSubmatchIndex(body, -1) {
		end(body[start:m[0]])
		level, _ := strconv.Atoi(body[m[2]:m[3]])
		at = section{ID: body[m[4]:m[5]], Title: plain(body[m[6]:m[7]]), Level: level}
		start = m[1]
	}
	end(body[start:])
	return all
}

// plain returns the text of HTML in one line.
func plain(body string) string {
	body = tagForm.ReplaceAllString(inlineForm.ReplaceAllString(body, ""), " ")
	return strings.Join(strings.Fields(stdhtml.UnescapeString(body)), " ")
}

// Limits of a search, which must cost little whoever asks.
const (
	maxWords   = 8
	maxResults = 30
	excerptLen = 240 // bytes
)

// result is a section that has all words of a search.
type result struct {
	Address, Title string
	Excerpt        []piece
	text           string // of the section
	inTitle        int    // number of words that its title has
}

// piece is a part of an excerpt.
type piece struct {
	Text  string
	Found bool // one of the words
}

// search returns the page with what a query finds.
func (s *site) search(query string) content {
	query = strings.ToValidUTF8(query, "")
	return s.execute("search.html", view{Title: "Search", Query: query, Results: s.find(query)})
}

// find returns the sections that have all words of a query: those with more of them in
// their titles first, otherwise in reading order.
func (s *site) find(query string) []result {
	words := strings.Fields(strings.ToLower(query))
	words = words[:min(len(words), maxWords)]
	if len(words) == 0 {
		return nil
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = regexp.QuoteMeta(word)
	}
	anyWord := regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
	var found []result
	for _, p := range s.pages {
		for _, at := range p.Sections {
			r := result{Address: p.Address, Title: p.Title}
			if at.ID != "" {
				r.Address, r.Title = r.Address+"#"+at.ID, r.Title+": "+at.Title
			}
			title := strings.ToLower(r.Title)
			missing := func(word string) bool {
				if strings.Contains(title, word) {
					r.inTitle++
					return false
				}
				return !strings.Contains(at.folded, word)
			}
			if !slices.ContainsFunc(words, missing) {
				r.text = at.Text
				found = append(found, r)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b result) int { return cmp.Compare(b.inTitle, a.inTitle) })
	found = found[:min(len(found), maxResults)]
	for i := range found {
		found[i].Excerpt = excerpt(found[i].text, anyWord)
	}
	return found
}

// excerpt returns the text around the first of the words.
func excerpt(text string, anyWord *regexp.Regexp) (pieces []piece) {
	if at := anyWord.FindStringIndex(text); at != nil && at[0] > excerptLen/3 {
		_, text, _ = strings.Cut(text[at[0]-excerptLen/3:], " ") // a whole word
		pieces = append(pieces, piece{Text: "… "})
	}
	rest := len(text) > excerptLen
	if rest {
		text = text[:strings.LastIndexByte(text[:excerptLen], ' ')+1]
	}
	start := 0
	for _, m := range anyWord.FindAllStringIndex(text, -1) {
		pieces = append(pieces, piece{Text: text[start:m[0]]}, piece{Text: text[m[0]:m[1]], Found: true})
		start = m[1]
	}
	pieces = append(pieces, piece{Text: text[start:]})
	if rest {
		pieces = append(pieces, piece{Text: "…"})
	}
	return pieces
}
