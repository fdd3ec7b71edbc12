package release

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// runbookCommand is a command of docs/runbook.md: an indented line, or one of the package
// within a sentence.
var runbookCommand = regexp.MustCompile("(?m)^    +(.+)$|`(merchant-orders-admin [^`]+)`")

// withCredential installs the package, with the database in a credential, and starts the
// service. What is in the file of variables is read by systemd, and again at a reload.
const withCredential = `
	dpkg -i /tmp/new.deb
	install -m 600 /dev/null /etc/merchant-orders/database
	echo sqlite:///var/lib/merchant-orders/orders.db >/etc/merchant-orders/database
	mkdir /etc/systemd/system/merchant-orders.service.d
	printf '[Service]\nLoadCredential=database:/etc/merchant-orders/database\n' >/etc/systemd/system/merchant-orders.service.d/override.conf
	systemctl daemon-reload
	cat >>/etc/merchant-orders/environment <<-'END'
		MERCHANT_ORDERS_WEBHOOK_ALLOW_PRIVATE=true
		MERCHANT_ORDERS_SMTP_USER = of "nobody"  
		MERCHANT_ORDERS_OIDC_CLIENT_ID="\"double\" \x $d\$"
		MERCHANT_ORDERS_SMTP_PASSWORD='single \ "'
		MERCHANT_ORDERS_OIDC_RULES="two
		lines \
		"
	END
	systemctl start merchant-orders
	curl --silent --fail http://127.0.0.1:8080/readyz >/dev/null # started means ready
`

// state is the state of the service.
const state = `state() { systemctl show --property=ActiveState,SubState,ExecMainStatus --value merchant-orders | sort | tr '\n' ' '; }
log() { journalctl --unit=merchant-orders --output=cat | grep "$1" | tail -n 1; }
`

// TestAdmin types the commands of docs/runbook.md on a machine with the package, whose
// service has its database from a credential.
func TestAdmin(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	testenv.Program(t, "python3", "python3")
	testenv.Program(t, "jq", "jq")
	m := boot(t)
	m.put(t, release(t, newVersion, ".deb"), "/tmp/new.deb")
	m.put(t, "testdata/receiver.py", "/tmp/receiver.py")
	output := m.script(t, withCredential+`
		systemd-run --quiet python3 /tmp/receiver.py
		cd /root # which the user of the service cannot read
		SUDO_USER='CORP\maria k.' merchant-orders-admin merchant add --id 355 --name 'Our $HOME ${Store}'
		merchant-orders-admin merchant show --id 355 | grep --fixed-strings 'Our $HOME ${Store}'
		merchant-orders-admin merchant rename --id 355 --name '$HOME' | grep --fixed-strings ': $HOME'
		merchant-orders-admin token create --merchant 355 >/dev/null
		merchant-orders-admin webhook add --merchant 355 --url http://127.0.0.1:9000/
		echo '{"merchantId":355,"reference":"FIRST-1","createdAt":"2026-11-20T08:15:30Z","total":3180,"customer":{"firstName":"Maria"},"shippingAddress":{"city":"Athens"},"lineItems":[{"id":1,"productName":"Cable","unitPrice":1590,"quantity":2}]}' >first.jsonl
		merchant-orders-admin import - <first.jsonl
		merchant-orders-admin audit
		merchant-orders-admin inspect NONE || echo "code $?"
		[ -z "$(ls /run/systemd/system)" ]
	`)
	testenv.Contains(t, "output", output, "by=CORP/maria/k.", "created 1,", "code 1")
	text := testenv.Of(os.ReadFile("../../../docs/runbook.md")).Must(t)
	var script strings.Builder
	typed := 0
	for _, found := range runbookCommand.FindAllStringSubmatch(string(text), -1) {
		command := strings.ReplaceAll(found[1]+found[2], " TIME", " 2026-11-20T08:15:30Z")
		switch strings.Fields(command)[0] {
		case "CREATE", "ALTER", "DATABASE=$(printf": // of PostgreSQL
			continue
		}
		typed++
		// Standard input has the script.
		script.WriteString("echo '+' " + quoted(command) + "\n{ " + command + "; } </dev/null\n")
	}
	if typed < 30 {
		t.Errorf("%d commands in the runbook", typed)
	}
	m.script(t, `cd /root
		`+script.String()+`
		[ "$(stat -c %U /var/lib/merchant-orders/orders.db)" = merchant-orders ]
		merchant-orders-admin inspect FIRST-1
	`)
	t.Run("a signal ends the command", func(t *testing.T) {
		m.script(t, `
			mkfifo /tmp/input
			merchant-orders-admin import - </tmp/input >/tmp/output 2>&1 & admin=$!
			exec 3>/tmp/input
			while [ -z "$(systemctl list-units --no-legend 'admin-of-merchant-orders-*')" ]; do sleep 0.1; done
			kill -TERM $admin
			code=0; wait $admin || code=$?
			[ $code = 130 ]
			[ -z "$(systemctl list-units --no-legend 'admin-of-merchant-orders-*')" ]
		`)
	})
}

// TestSupervision checks what systemd makes of wrong settings, crashes and reloads.
func TestSupervision(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	m := boot(t)
	m.put(t, release(t, newVersion, ".deb"), "/tmp/new.deb")
	m.script(t, withCredential)
	t.Run("reload", func(t *testing.T) {
		m.script(t, state+`
			pid=$(systemctl show --value -p MainPID merchant-orders)
			systemctl reload merchant-orders
			while [ -z "$(log 'settings reloaded')" ]; do sleep 0.1; done
			log 'settings reloaded' | grep '"need_restart":""' # the variables are read as systemd reads them
			echo MERCHANT_ORDERS_RATE_LIMIT=many >>/etc/merchant-orders/environment
			systemctl reload merchant-orders
			while [ -z "$(log 'not reloaded')" ]; do sleep 0.1; done
			log 'not reloaded' | grep 'RATE_LIMIT.*must be'
			[ "$(systemctl show --value -p MainPID merchant-orders)" = $pid ]
			curl --silent --fail http://127.0.0.1:8080/readyz
		`)
	})
	t.Run("a wrong setting", func(t *testing.T) {
		m.script(t, state+`
			! systemctl restart merchant-orders
			[ "$(state)" = "2 failed failed " ]
			sleep 3 # RestartSec is 2
			[ "$(state)" = "2 failed failed " ]
			sed -i /RATE_LIMIT/d /etc/merchant-orders/environment
			systemctl restart merchant-orders
			[ "$(state)" = "0 active running " ]
		`)
	})
	t.Run("a crash", func(t *testing.T) {
		m.script(t, `
			kill -QUIT "$(systemctl show --value -p MainPID merchant-orders)"
			while [ "$(systemctl show --value -p NRestarts merchant-orders)" != 1 ]; do sleep 0.1; done
			systemctl start merchant-orders
			curl --silent --fail http://127.0.0.1:8080/readyz
		`)
	})
	t.Run("a service that hangs", func(t *testing.T) {
		m.script(t, `
			kill -STOP "$(systemctl show --value -p MainPID merchant-orders)"
			while [ "$(systemctl show --value -p NRestarts merchant-orders)" != 2 ]; do sleep 0.1; done
			systemctl start merchant-orders
			curl --silent --fail http://127.0.0.1:8080/readyz
			journalctl --unit=merchant-orders --output=cat | grep 'Watchdog timeout'
		`)
	})
	t.Run("a bucket out of reach", func(t *testing.T) {
		m.script(t, state+`
			printf '%s\n' 'MERCHANT_ORDERS_STORAGE="s3://bucket?region=eu-central-1&endpoint=http://127.0.0.1:1"' AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x \
				MERCHANT_ORDERS_WAIT=1s >>/etc/merchant-orders/environment
			! systemctl restart merchant-orders
			while [ "$(systemctl show --value -p NRestarts merchant-orders)" != 1 ]; do sleep 0.1; done
			systemctl stop merchant-orders
		`)
	})
}

// quoted quotes a text for the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
