package content

// Hidden returns a redactor over every block.
func Hidden() *Redactor { return &Redactor{} }

var (
	Tokens = tokens
	Plain  = plainText
)
