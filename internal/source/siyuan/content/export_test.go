package content

// Hidden returns a veil over every block.
func Hidden() *Redactor { return &Redactor{} }

var (
	Tokens = tokens
	Plain  = plainText
)
