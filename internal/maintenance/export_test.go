package maintenance

const (
	SelectInvoiceFilePage = selectInvoiceFilePage
	SelectInvoiceFile     = selectInvoiceFile
)
