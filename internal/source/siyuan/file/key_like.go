package file

import (
	"path"
	"strings"
)

// secrets are patterns of file names that hold what opens doors: keys, stores of passwords,
// cookies, wallets, credentials of programs. Lower case; hidden files are refused anyway.
var secrets = []string{
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519", "authorized_keys*", "known_hosts*",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.agilekeychain",
	"*.asc", "*.gpg", "*.pgp", "*.age", "*.keychain*", "*.ovpn", "*.rdp", "*.psafe3", "*.der", "*.csr",
	"*.env", "*.env.*", "_netrc", "netrc", "htpasswd*", "shadow*", "passwd*", "gshadow*", "master.key",
	"credential*", "*credentials*", "secret", "secret.*", "secrets*", "*password*", "token", "token.txt", "*token.json", "*_token", "apikey*", "api_key*",
	"service-account*.json", "client_secret*.json", "kubeconfig*", "terraform.tfstate*", "*.tfvars",
	"cookies", "cookies.txt", "cookies.json", "cookies.sqlite*", "login data*", "web data*", "key3.db", "key4.db", "logins.json", "signons.sqlite",
	"wallet.dat", "wallet.json", "*.wallet", "seed.txt", "*mnemonic*", "ntuser.dat*", "sam", "ntds.dit", "*.mobileprovision",
	"*_history", "mcp.json", "claude_desktop_config.json", "collie.json", "gateway.json",
}

// keyLike reports whether a name is one under which secrets lie. It errs on the side of no: a
// file can be renamed, what was sent cannot be taken back.
func keyLike(name string) bool {
	name = strings.ToLower(name)
	for _, pattern := range secrets {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are ours and right
			return true
		}
	}
	return false
}
