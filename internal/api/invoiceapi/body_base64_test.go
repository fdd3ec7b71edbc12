package invoiceapi

import (
	"testing"

	"merchantorders/internal/strict"
)

// base64Tests are contents as they stand between the quotes.
func base64Tests() []readTest {
	payload, hello := refused(strict.ErrInvalidPayload), accepted("a.pdf", "hello")
	return []readTest{
		{"no padding needed", `aGVs`, accepted("a.pdf", "hel")},
		{"padding of one", `aGVsbG8=`, hello},
		{"padding of two", `aGVsbA==`, accepted("a.pdf", "hell")},
		{"both signs of the alphabet", `+/+/`, accepted("a.pdf", "\xfb\xff\xbf")},
		{"escaped slash", `+\/+\/`, accepted("a.pdf", "\xfb\xff\xbf")},
		{"loose bits", `aGl=`, accepted("a.pdf", "hi")},
		{"other loose bits", `aB==`, accepted("a.pdf", "h")},
		{"escapes for letters", `\u0061G\u0056s\u0062G8\u003d`, hello},
		{"escapes with capitals", `\u002B\u002F\u002b\u002f`, accepted("a.pdf", "\xfb\xff\xbf")},
		{"LF", `aGVs\nbG8=`, hello},
		{"CR LF", `aGVs\r\nbG8=\r\n`, hello},
		{"line breaks as code", `aG\u000aVs\u000DbG8=`, hello},
		{"line break inside the padding", `aGVsbA=\n=`, accepted("a.pdf", "hell")},
		{"line break first", `\naGVsbG8=`, hello},
		{"as many line breaks as letters", `a\nG\nV\ns\nb\nG\n8\n=\n`, hello},

		{"padding missing", `aGVsbG8`, payload},
		{"half the padding missing", `aGVsbA=`, payload},
		{"one letter", `a`, payload},
		{"one letter too many", `aGVsbG8=a`, payload},
		{"padding too long", `aGVsbG8==`, payload},
		{"padding of a quantum", `aGVs====`, payload},
		{"padding alone", `====`, payload},
		{"padding of three", `a===`, payload},
		{"padding in the middle", `aGk=aGk=`, payload},
		{"padding in the middle of a quantum", `aG=k`, payload},
		{"padding, line break, more", `aGk=\naGVs`, payload},
		{"URL alphabet", `-_-_`, payload},
		{"data prefix", `data:application/pdf;base64,aGVsbG8=`, payload},
		{"space", `aGVs bG8=`, payload},
		{"space at the end", `aGVsbG8= `, payload},
		{"four spaces", `aGVs    bG8=`, payload},
		{"tab", `aGVs\tbG8=`, payload},
		{"form feed", `aGVs\fbG8=`, payload},
		{"backspace", `aGVs\bbG8=`, payload},
		{"escaped quote", `aGVs\"bG8=`, payload},
		{"escaped quote at the end", `aGVsbG8=\"`, payload},
		{"escaped backslash", `aGVs\\bG8=`, payload},
		{"unknown escape", `aGVs\xbG8=`, payload},
		{"cut escape", `aGVsbG8=\u00`, payload},
		{"escape that is no code", `aGVs\u00zzbG8=`, payload},
		{"escape with a sign", `aGVs\u+041bG8=`, payload},
		{"escaped NUL", `aGVs\u0000bG8=`, payload},
		{"escaped letter beyond ASCII", `aGVs\u0161bG8=`, payload},
		{"code of a letter and 256", `\u0161GVs`, payload},
		{"surrogates", `aGVs\ud83e\uddfe`, payload},
		{"lone surrogate", `aGVs\ud83e`, payload},
		{"letter beyond ASCII", `aGVsτG8=`, payload},
		{"bare LF", "aGVs\nbG8=", payload},
		{"bare CR LF", "aGVs\r\nbG8=", payload},
		{"four bare LF", "aGVs\n\n\n\nbG8=", payload},
		{"four bare LF in a quantum", "a\nG\nV\ns\nbG8=", payload},
		{"four bare LF at the end", "aGVs\n\n\n\n", payload},
		{"four bare LF and padding", "aGVsbG8=\n\n\n\n", payload},
		{"bare NUL", "aGVs\x00G8=", payload},
	}
}

// Proves decision 6 (body, base64).
func TestReadUploadBase64(t *testing.T) {
	t.Parallel()
	for _, test := range base64Tests() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantRead(t, `{"filename":"a.pdf","contentBase64":"`+test.text+`"}`, test.want)
			wantRead(t, `{"contentBase64":"`+test.text+`","filename":"a.pdf"}`, test.want)
		})
	}
}
