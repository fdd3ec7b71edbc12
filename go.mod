module merchantorders

go 1.26
