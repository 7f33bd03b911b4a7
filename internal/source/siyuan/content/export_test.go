package content

// Hidden returns a redactor that hides the text of every block.
func Hidden() *Redactor { return &Redactor{} }

var (
	Tokens = estimateTokens
	Plain  = plainText
)
