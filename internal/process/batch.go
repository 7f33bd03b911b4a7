package process

import "strings"

// batchLine is the command line that makes cmd.exe run a batch file with these arguments
// and take nothing in them for syntax: no AutoRun, no delayed expansion, every argument
// quoted. Inside quotes only two characters still mean something to cmd: a quote, which
// is doubled, and a percent sign, which an empty substring of the always present variable
// cd keeps from pairing up. Windows only.
func batchLine(path string, args []string) string {
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /s /c "`)
	for i, arg := range append([]string{path}, args...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(
			`"`, `""`, "%", "%%cd:~,%", "\r", " ", "\n", " ", "\x00", "",
		).Replace(arg))
		if strings.HasSuffix(arg, `\`) {
			b.WriteByte('\\') // the program's own parser would take \" for a quote
		}
		b.WriteByte('"')
	}
	b.WriteByte('"')
	return b.String()
}
