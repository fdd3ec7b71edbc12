package invoiceapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
)

const formType = "multipart/form-data; boundary=b"

// formOf is a form with a part file, whose headers and content are those given.
func formOf(headers, content string) string {
	return "--b\r\nContent-Disposition: form-data; " + headers + "\r\n\r\n" + content + "\r\n--b--\r\n"
}

const helloPart = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\nhello\r\n"

// field is a part that is no file.
func field(name, value string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

// readForm reads a form, with what is true for every one.
func readForm(t *testing.T, contentType string, body io.Reader) upload {
	t.Helper()
	files := &stagedFiles{}
	filename, content, _, err := ReadForm(t.Context(), contentType, body, files.stage)
	if err != nil {
		if filename != "" || content != (order.Content{}) {
			t.Errorf("error %v, and yet returned: %q, %v", err, filename, content)
		}
		testenv.Equal(t, "aborted files", files.aborted, files.staged)
		if _, known := errors.AsType[strict.Detailed](err); !known && !errors.Is(err, ErrBodyTooBig) {
			t.Errorf("error %v does not say what is wrong", err)
		}
		return refused(err)
	}
	if files.staged != 1 || files.aborted != 0 {
		t.Errorf("%d files staged, %d aborted", files.staged, files.aborted)
	}
	return upload{Filename: filename, Size: content.Size, SHA256: content.SHA256, Staged: string(files.last.content), Data: content.InvoiceData}
}

// readers yield a body in several ways.
func readers(body string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":                   strings.NewReader(body),
		"single bytes":            iotest.OneByteReader(strings.NewReader(body)),
		"end with the last bytes": iotest.DataErrReader(strings.NewReader(body)),
	}
}

// Proves decision 9 (uploads as forms).
func TestReadForm(t *testing.T) {
	t.Parallel()
	payload, hello := refused(strict.ErrInvalidPayload), accepted("a.pdf", "hello")
	named := func(name string) upload { return accepted(name, "hello") }
	const end = "--b--\r\n"
	for _, test := range []struct {
		name, contentType, body string
		want                    upload
	}{
		{"curl", "multipart/form-data; boundary=------------------------d74496d66958873e",
			"--------------------------d74496d66958873e\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\nhello\r\n--------------------------d74496d66958873e--\r\n", hello},
		{"a name as in e-mail", formType, formOf(`name="file"; filename="=?UTF-8?B?zrEvzrI=?= =?utf-8?Q?_=CE=B3.pdf?="`, "hello"), named("β γ.pdf")},
		{"a name as in e-mail that is not UTF-8", formType, formOf(`name="file"; filename="=?ISO-8859-7?Q?=E1.pdf?="`, "hello"), payload},
		{"a browser", "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
			"------WebKitFormBoundary7MA4YWxkTrZu0gW\r\nContent-Disposition: form-data; name=\"file\"; filename=\"τιμολόγιο %22a%22.pdf\"\r\nContent-Type: application/pdf\r\n\r\nhello\r\n------WebKitFormBoundary7MA4YWxkTrZu0gW--\r\n", named("τιμολόγιο %22a%22.pdf")},
		{"Apache HttpClient", formType, formOf("name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: binary", "hello"), hello},
		{".NET", `multipart/form-data; boundary="b"`, formOf("name=file; filename=\"=?utf-8?B?zrEucGRm?=\"; filename*=utf-8''%CE%B1.pdf", "hello"), named("α.pdf")},
		{"old urllib3", formType, formOf("name=\"file\"; filename*=utf-8''%CE%B1%20b.pdf", "hello"), named("α b.pdf")},
		{"escaped quote and backslash", formType, formOf(`name="file"; filename="a\"b\\c.pdf"`, "hello"), named(`a"b\c.pdf`)},
		{"path of another system", formType, formOf(`name="file"; filename="C:\fakepath\a.pdf"`, "hello"), named(`C:\fakepath\a.pdf`)},
		{"a path", formType, formOf(`name="file"; filename="../../a.pdf"`, "hello"), hello},
		{"LF line ends", formType, strings.ReplaceAll(helloPart+end, "\r\n", "\n"), hello},
		{"capitals in headers", "Multipart/Form-Data; Boundary=b", strings.Replace(helloPart+end, "Content-Disposition: form-data", "CONTENT-DISPOSITION: Form-Data", 1), hello},
		{"no last line end", formType, helloPart + "--b--", hello},
		{"preamble and epilogue", formType, "before\r\n" + helloPart + end + "after", hello},
		{"space after a boundary", formType, strings.Replace(helloPart, "--b\r\n", "--b \t\r\n", 1) + end, hello},
		{"content like a boundary", formType, formOf(`name="file"; filename="a.pdf"`, "\n--b\r\n\r\n--bc\r\n--b-c\r\n"), accepted("a.pdf", "\n--b\r\n\r\n--bc\r\n--b-c\r\n")},
		{"longest boundary", "multipart/form-data; boundary=" + strings.Repeat("b", 70), strings.ReplaceAll(helloPart+end, "--b", "--"+strings.Repeat("b", 70)), hello},
		{"unknown parts", formType, field("x", "1") + helloPart + field("x", "2") + field("filename", "b.pdf") + field("contentBase64", "x") + end, hello},
		{"a part without a name", formType, "--b\r\n\r\nx\r\n" + helloPart + end, hello},
		{"another file", formType, strings.Replace(helloPart, `"file"`, `"photo"`, 1) + helloPart + end, hello},

		{"no parts", formType, end, payload},
		{"empty body", formType, "", payload},
		{"JSON", formType, bodyOf([]byte("hello"), asIs), payload},
		{"no file", formType, field("x", "1") + end, payload},
		{"file without a name", formType, field("file", "hello") + end, payload},
		{"no file chosen", formType, formOf(`name="file"; filename=""`, ""), payload},
		{"empty file", formType, formOf(`name="file"; filename="a.pdf"`, ""), payload},
		{"two files", formType, helloPart + helloPart + end, payload},
		{"a file and a field of its name", formType, helloPart + field("file", "x") + end, payload},
		{"name in other letters", formType, helloPart + field("File", "x") + end, payload},
		{"name of the file in other letters", formType, strings.Replace(helloPart, `"file"`, `"File"`, 1) + end, payload},
		{"file name that is not UTF-8", formType, formOf("name=\"file\"; filename=\"\xe1.pdf\"", "hello"), payload},
		{"base64 in a part", formType, formOf("name=\"file\"; filename=\"a.pdf\"\r\nContent-Transfer-Encoding: base64", "aGVsbG8="), payload},
		{"quoted-printable in a part", formType, formOf("name=\"file\"; filename=\"a.pdf\"\r\nContent-Transfer-Encoding: quoted-printable", "hello"), payload},
		{"no boundary", "multipart/form-data", helloPart + end, payload},
		{"empty boundary", `multipart/form-data; boundary=""`, strings.ReplaceAll(helloPart+end, "--b", "--"), payload},
		{"two boundaries", formType + "; boundary=c", helloPart + end, payload},
		{"boundary too long", "multipart/form-data; boundary=" + strings.Repeat("b", 71), strings.ReplaceAll(helloPart+end, "--b", "--"+strings.Repeat("b", 71)), payload},
		{"another boundary", "multipart/form-data; boundary=c", helloPart + end, payload},
		{"ends in the file", formType, strings.TrimSuffix(helloPart, "\r\n"), payload},
		{"ends after the file", formType, helloPart, payload},
		{"ends in a boundary", formType, helloPart + "--b", payload},
		{"ends before the last hyphen", formType, helloPart + "--b-", payload},
		{"ends in a later part", formType, helloPart + "--b\r\nContent-Disposition: form", payload},
		{"text between parts", formType, strings.TrimSuffix(helloPart, "\r\n") + "\r\n--b\r\nno header\r\n\r\n" + end, payload},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for name, body := range readers(test.body) {
				testenv.Equal(t, name, test.want, readForm(t, test.contentType, body))
			}
		})
	}
}

// TestInvoiceData has the fields that say what is in a file, in both forms of an upload.
// Proves decision 9 (data of invoice files).
func TestInvoiceData(t *testing.T) {
	t.Parallel()
	link := "https://provider.example/7?a=b"
	for _, test := range []struct {
		name, value string
		want        string // the detail of the refusal; empty: the value is taken
	}{
		{"kind", "invoice", ""}, {"kind", "credit-note", ""}, {"kind", "receipt", ""}, {"kind", "Invoice", "must be one of invoice, credit-note, receipt"},
		{"number", "7", ""}, {"number", strings.Repeat("Τ", 64), ""}, {"number", " Τ.Π. 7/2026 ", ""},
		{"number", strings.Repeat("Τ", 65), "must be text of at most 64 characters"}, {"number", "a\tb", "must be on one line, without control characters"},
		{"mark", "400001234567890", ""}, {"mark", strings.Repeat("9", 20), ""}, {"mark", strings.Repeat("9", 21), "must be 1 to 20 digits"},
		{"mark", "40000123456789O", "must be 1 to 20 digits"}, {"mark", "+1", "must be 1 to 20 digits"}, {"mark", "٤", "must be 1 to 20 digits"},
		{"link", link, ""}, {"link", link + strings.Repeat("x", 1000-len(link)), ""}, {"link", link + strings.Repeat("x", 1001-len(link)), badLink},
		{"link", "http://provider.example/7", badLink}, {"link", "javascript:alert(1)", badLink}, {"link", "https:///7", badLink}, {"link", "https://a:b@provider.example", badLink},
		{"link", "https://provider.example/ 7", badLink}, {"link", "https://provider.example\\7", badLink}, {"link", "https://τ.example/7", badLink},
		{"kind", "", "must not be empty: leave it out"}, {"number", "", "must not be empty: leave it out"},
		{"number", " \u00a0\u2003", "must not be empty: leave it out"},
		{"Mark", "1", "The key is mark, in exactly these letters."},
	} {
		want := accepted("a.pdf", "hello")
		if test.want == "" {
			testenv.Equal(t, test.value, "", want.Data.Set(test.name, test.value))
		} else {
			want = refused(strict.ErrInvalidPayload)
		}
		files := &stagedFiles{}
		body := `{"filename":"a.pdf",` + string(testenv.Of(json.Marshal(test.name)).Must(t)) + ":" + string(testenv.Of(json.Marshal(test.value)).Must(t)) + `,"contentBase64":"aGVsbG8="}`
		check := func(what, filename string, content order.Content, err error) {
			t.Helper()
			what = fmt.Sprintf("%s %q: %s", test.name, test.value, what)
			if err == nil {
				testenv.Equal(t, what, want, upload{Filename: filename, Size: content.Size, SHA256: content.SHA256, Staged: "hello", Data: content.InvoiceData})
				return
			}
			testenv.Equal(t, what, want.Err, err.Error())
			if detail := errorDetail(err); detail != test.want && detail != test.name+" "+test.want+"." {
				t.Errorf("%s: %s", what, detail)
			}
		}
		filename, content, err := ReadUpload(t.Context(), strings.NewReader(body), files.stage, order.InvoiceFields...)
		check("JSON", filename, content, err)
		filename, content, err = ReadUpload(t.Context(), strings.NewReader(body), files.stage)
		if err != nil || content.InvoiceData != (order.InvoiceData{}) {
			t.Errorf("version 1 has read %v, %v", content.InvoiceData, err)
		}
		for _, form := range []string{field(test.name, test.value) + helloPart, helloPart + field(test.name, test.value)} {
			filename, content, _, err = ReadForm(t.Context(), formType, strings.NewReader(form+"--b--"), files.stage)
			check("a form", filename, content, err)
		}
	}
	twice := helloPart + field("mark", "1") + field("mark", "1") + "--b--"
	testenv.Equal(t, "twice", refused(strict.ErrInvalidPayload), readForm(t, formType, strings.NewReader(twice)))
	files := &stagedFiles{}
	_, content, err := ReadUpload(t.Context(), strings.NewReader(`{"filename":"a.pdf","kind":null,"contentBase64":"aGVsbG8=","number":null}`), files.stage, order.InvoiceFields...)
	if err != nil || content.InvoiceData != (order.InvoiceData{}) {
		t.Errorf("null: %v, %v", content.InvoiceData, err)
	}
	_, _, err = ReadUpload(t.Context(), strings.NewReader(`{"filename":"a.pdf","mark":400001234567890,"contentBase64":"aGVsbG8="}`), files.stage, order.InvoiceFields...)
	testenv.Equal(t, "a number", "mark must be a text.", errorDetail(err))
}

const badLink = "must begin with https://, in printable ASCII of at most 1000 bytes, without spaces, backslashes, user name and password"

func errorDetail(err error) string {
	detailed, ok := errors.AsType[strict.Detailed](err)
	if !ok {
		return ""
	}
	return detailed.Detail()
}

// Proves decision 9 (uploads as forms), spec 8.
func TestReadFormLimits(t *testing.T) {
	t.Parallel()
	tooBig, payload := refused(ErrBodyTooBig), refused(strict.ErrInvalidPayload)
	file := func(size int) string { return formOf(`name="file"; filename="a.pdf"`, strings.Repeat("x", size)) }
	around := len(file(0))
	// Headers, fields and what surrounds the parts count alike.
	beside := func(n int) []string {
		return []string{
			strings.Repeat("x", n-2) + "\r\n" + file(5), // a line that is longer than what is read ahead
			strings.Repeat("\n", n) + file(5),
			file(5) + strings.Repeat("x", n),
			field("x", strings.Repeat("x", n-len(field("x", "")))) + file(5),
			strings.Repeat("--b\r\n\r\n\r\n", n/9) + file(5) + strings.Repeat("x", n%9),
			formOf("name=\"file\"; filename=\"a.pdf\"\r\nX: "+strings.Repeat("x", n-len("\r\nX: ")), "xxxxx"),
		}
	}
	for name, test := range map[string]struct {
		body string
		want upload
	}{
		"largest file":        {file(order.MaxInvoiceSize), accepted("a.pdf", strings.Repeat("x", order.MaxInvoiceSize))},
		"a byte more":         {file(order.MaxInvoiceSize + 1), accepted("a.pdf", strings.Repeat("x", order.MaxInvoiceSize+1))},
		"largest body":        {file(MaxBody - around), accepted("a.pdf", strings.Repeat("x", MaxBody-around))},
		"body of a byte more": {file(MaxBody - around + 1), tooBig},
		"no form, too big":    {strings.Repeat("x", MaxBody+1), tooBig},
		"no form":             {strings.Repeat("x", MaxBody), payload},
		"two files, too big":  {helloPart + file(MaxBody), tooBig},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := readForm(t, formType, strings.NewReader(test.body)); got != test.want { // a diff would be of megabytes
				t.Errorf("read %d bytes, error %q", got.Size, got.Err)
			}
		})
	}
	testenv.Equal(t, "line too long", payload, readForm(t, formType, strings.NewReader(beside(5000)[0])))
	for i := 1; i < len(beside(100)); i++ {
		fits, over := beside(maxOther - around)[i], beside(maxOther - around + 1)[i]
		for name, body := range readers(fits) {
			testenv.Equal(t, fmt.Sprintf("128 KiB beside the file, %d, %s", i, name), accepted("a.pdf", "xxxxx"), readForm(t, formType, body))
		}
		for name, body := range readers(over) {
			testenv.Equal(t, fmt.Sprintf("a byte more, %d, %s", i, name), payload, readForm(t, formType, body))
		}
	}
	endless := &endlessReader{}
	testenv.Equal(t, "endless", tooBig, readForm(t, formType, io.MultiReader(strings.NewReader(helloPart+"--b\r\nX: "), endless)))
	if endless.read > MaxBody+1 {
		t.Errorf("%d bytes were read", endless.read)
	}
}

// TestReadFormMemory checks that no form is held in memory. It is not parallel, because it
// counts all allocations.
// Proves decision 9 (uploads as forms).
func TestReadFormMemory(t *testing.T) {
	for name, body := range map[string]string{
		"a file":       formOf(`name="file"; filename="a.pdf"`, strings.Repeat("x", order.MaxInvoiceSize)),
		"a header":     "--b\r\nX: " + strings.Repeat("x", MaxBody-100),
		"many headers": "--b\r\n" + strings.Repeat("X: 1\r\n", MaxBody/7),
		"a field":      field("kind", strings.Repeat("x", MaxBody-100)),
		"many parts":   strings.Repeat("--b\r\n\r\n\r\n", MaxBody/10),
		"a line":       strings.Repeat("x", MaxBody),
		"a boundary":   helloPart + "--b" + strings.Repeat(" ", MaxBody-100),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		staged := &discarding{}
		_, _, _, _ = ReadForm(t.Context(), formType, strings.NewReader(body), staged.stage)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: %d KiB for a body of %d KiB", name, used>>10, len(body)>>10)
		}
	}
}

func TestReadFormFails(t *testing.T) {
	t.Parallel()
	body := formOf(`name="file"; filename="a.pdf"`, string(noise(200_000)))
	for name, test := range map[string]struct {
		files *stagedFiles
		want  error
	}{
		"cannot be staged": {&stagedFiles{stageErr: syscall.ENOSPC}, syscall.ENOSPC},
		"full":             {&stagedFiles{room: 100_000, writeErr: syscall.ENOSPC}, syscall.ENOSPC},
		"full at the end":  {&stagedFiles{room: 199_999, writeErr: syscall.ENOSPC}, syscall.ENOSPC},
		"short write":      {&stagedFiles{room: 100_000, shortWrite: true}, io.ErrShortWrite},
	} {
		_, content, _, err := ReadForm(t.Context(), formType, strings.NewReader(body), test.files.stage)
		if !errors.Is(err, test.want) || errors.Is(err, strict.ErrInvalidPayload) {
			t.Errorf("%s: error %v, want %v alone", name, err, test.want)
		}
		testenv.Equal(t, name+": content", order.Content{}, content)
		testenv.Equal(t, name+": aborted files", test.files.aborted, test.files.staged)
	}
	for _, cut := range []int{0, 1, 20, 90, 70_000, len(body) - 10, len(body)} {
		broken := io.MultiReader(strings.NewReader(body[:cut]), iotest.ErrReader(errors.New("connection reset")))
		testenv.Equal(t, fmt.Sprintf("broken after %d bytes", cut), refused(strict.ErrInvalidPayload), readForm(t, formType, broken))
	}
}

// plainReadForm reads a form in the plainest way. ReadForm must have the same outcome.
func plainReadForm(contentType string, body []byte) upload {
	_, params, err := mime.ParseMediaType(contentType)
	if n := len(params["boundary"]); err != nil || n == 0 || n > 70 {
		return refused(strict.ErrInvalidPayload)
	}
	// A multipart.Reader does not tell the last boundary from an end in a header.
	whole := io.MultiReader(bytes.NewReader(body), strings.NewReader("\r\n"), iotest.ErrReader(errors.New("cut")))
	parts := multipart.NewReader(whole, params["boundary"])
	var filename, content string
	var data order.InvoiceData
	seen := make(map[string]bool)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return refused(strict.ErrInvalidPayload)
		}
		text, err := io.ReadAll(part)
		name, bad := part.FormName(), err != nil
		for _, known := range []string{"file", "kind", "number", "mark", "link"} {
			if encoding := strings.ToLower(part.Header.Get("Content-Transfer-Encoding")); strings.EqualFold(name, known) {
				bad = bad || name != known || seen[name] || !strings.Contains(",,binary,8bit,7bit,", ","+encoding+",")
			}
		}
		seen[name] = true
		switch name {
		case "file":
			filename, content = part.FileName(), string(text)
			bad = bad || filename == "" || strings.ToValidUTF8(filename, "") != filename
		case "kind", "number", "mark", "link":
			bad = bad || data.Set(name, string(text)) != ""
		}
		if bad {
			return refused(strict.ErrInvalidPayload)
		}
	}
	if content == "" || len(body)-len(content) > 128<<10 {
		return refused(strict.ErrInvalidPayload)
	}
	want := accepted(filename, content)
	want.Data = data
	return want
}

func FuzzReadForm(f *testing.F) {
	f.Add(formType, []byte(helloPart+field("kind", "receipt")+"--b--\r\n"))
	f.Add(formType, []byte(strings.ReplaceAll(helloPart+"--b--", "\r\n", "\n")))
	f.Add(formType, []byte(helloPart+"--b"))
	f.Add("multipart/form-data; boundary=\"b b\"", []byte("--b b\r\n\r\n--b b--"))
	f.Add("multipart/form-data; boundary="+strings.Repeat("b", 71), []byte(helloPart))
	f.Add(formType, []byte(formOf("name=\"file\"; filename*=utf-8''%CE%B1.pdf; filename=\"a\\\"\"\r\nContent-Transfer-Encoding: 8bit", "\r\n--b-\r\n--\r\n")))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		want := plainReadForm(contentType, body)
		for name, reader := range readers(string(body)) {
			if mediaType, _, _ := mime.ParseMediaType(contentType); mediaType == "multipart/form-data" {
				testenv.Equal(t, name, want, readForm(t, contentType, reader))
			}
		}
	})
}

// discarding stages files that nobody reads.
type discarding struct{ order.StagedFile }

func (d *discarding) stage(context.Context) (order.StagedFile, error) { return d, nil }
func (*discarding) Write(p []byte) (int, error)                       { return len(p), nil }
func (*discarding) Abort()                                            {}
