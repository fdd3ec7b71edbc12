package release

import (
	"testing"

	"merchantorders/internal/testenv"
)

// asUser defines a shell function that runs a command of the program as the user
// and with the settings of the service.
const asUser = `
orders() {
	(set -a; MERCHANT_ORDERS_DATA=/var/lib/merchant-orders; . /etc/merchant-orders/environment; exec runuser -u merchant-orders -- merchant-orders "$@")
}
ready() { curl --silent --fail --retry 100 --retry-connrefused --retry-delay 1 --output /dev/null http://127.0.0.1:8080/readyz; }
`

// TestDebianPackage installs the package, starts its units, upgrades, removes and
// purges it. The data is there after each step.
func TestDebianPackage(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	m := boot(t)
	m.put(t, release(t, oldVersion, ".deb"), "/tmp/old.deb")
	m.put(t, release(t, newVersion, ".deb"), "/tmp/new.deb")

	m.script(t, `dpkg -i /tmp/old.deb`)
	t.Run("nothing is started", func(t *testing.T) {
		for _, unit := range []string{".service", "-backup.timer", "-check.timer", "-purge.timer"} {
			states, err := m.run("", "sh", "-c", "systemctl is-active merchant-orders"+unit+"; systemctl is-enabled merchant-orders"+unit)
			if err == nil || states != "inactive\ndisabled\n" {
				t.Errorf("%s: %s%v", unit, states, err)
			}
		}
	})
	t.Run("units", func(t *testing.T) { verifyUnits(t, m) })

	m.script(t, asUser+`
		[ "$(stat -c '%U %a' /var/lib/merchant-orders)" = "merchant-orders 700" ]
		[ "$(stat -c '%U:%G %a' /etc/merchant-orders/environment)" = "root:merchant-orders 640" ]
		orders merchant add --id 355 --name "Our Store"
		echo 'MERCHANT_ORDERS_BASE_URL=https://orders.example.com' >>/etc/merchant-orders/environment
		systemctl start merchant-orders
		ready
		[ "$(ps -o user:20= -p "$(systemctl show --value -p MainPID merchant-orders)" | tr -d ' ')" = merchant-orders ]
	`)
	t.Run("journal", func(t *testing.T) {
		log := m.script(t, `journalctl --unit=merchant-orders --output=cat`)
		testenv.Contains(t, "journal", log, `"msg":"listening"`, oldVersion)
	})
	t.Run("credential and kill", func(t *testing.T) {
		m.script(t, asUser+`
			systemctl stop merchant-orders
			cd /var/lib/merchant-orders
			mv orders.db moved.db
			echo "sqlite://$PWD/moved.db" >/etc/merchant-orders/database
			chmod 600 /etc/merchant-orders/database
			unit=/etc/systemd/system/merchant-orders.service.d
			mkdir $unit
			printf '[Service]\nLoadCredential=database:/etc/merchant-orders/database\n' >$unit/test.conf
			systemctl daemon-reload
			systemctl start merchant-orders
			ready
			kill -9 "$(systemctl show --value -p MainPID merchant-orders)"
			while [ "$(systemctl show --value -p NRestarts merchant-orders)" != 1 ]; do sleep 0.1; done
			ready
			systemctl stop merchant-orders
			[ ! -e orders.db ]
			mv moved.db orders.db
			rm -r $unit /etc/merchant-orders/database
			systemctl daemon-reload
			systemctl start merchant-orders
			ready
		`)
	})
	t.Run("timers", func(t *testing.T) {
		m.script(t, `
			systemctl start merchant-orders-backup merchant-orders-check merchant-orders-purge
			tar --list --file /var/backups/merchant-orders/orders-*.tar.gz | grep orders.db
			[ "$(stat -c '%U %a' /var/backups/merchant-orders/orders-*.tar.gz)" = "merchant-orders 600" ]
			for n in $(seq 15); do touch --date='20 days ago' "/var/backups/merchant-orders/orders-old-$n.tar.gz"; done
			sleep 1.1 # the name of a backup has its second
			systemctl start merchant-orders-backup
			[ "$(ls /var/backups/merchant-orders | wc -l)" = 14 ]
		`)
	})
	t.Run("upgrade", func(t *testing.T) {
		m.script(t, asUser+`
			dpkg -i /tmp/new.deb
			ready
			[ "$(readlink /proc/"$(systemctl show --value -p MainPID merchant-orders)"/exe)" = /usr/bin/merchant-orders ]
			merchant-orders version | grep ' `+newVersion+` '
			merchant-orders-admin merchant list | grep 'Our Store'
			grep -q orders.example.com /etc/merchant-orders/environment
		`)
	})
	t.Run("remove and purge", func(t *testing.T) {
		said := m.script(t, `
			systemctl enable --now merchant-orders merchant-orders-check.timer
			dpkg --remove merchant-orders
			[ "$(systemctl is-active merchant-orders merchant-orders-check.timer || true)" = "$(printf 'inactive\ninactive')" ]
			[ -f /var/lib/merchant-orders/orders.db ]
			[ -f /etc/merchant-orders/environment ]
			[ -z "$(find /etc/systemd/system -name 'merchant-orders*')" ]
			dpkg --purge merchant-orders
			[ ! -e /etc/merchant-orders ]
			[ -f /var/lib/merchant-orders/orders.db ]
			ls /var/backups/merchant-orders/orders-*.tar.gz
		`)
		testenv.Contains(t, "message of the purge", said, "the data stays in /var/lib/merchant-orders")
	})
}

// TestRPMPackage installs the package, upgrades and removes it. Data and changed
// settings are there after each step. RPM knows nothing of Debian's packages, so
// dependencies are not checked.
func TestRPMPackage(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	testenv.Program(t, "rpm", "rpm")
	m := boot(t)
	m.put(t, release(t, oldVersion, ".rpm"), "/tmp/old.rpm")
	m.put(t, release(t, newVersion, ".rpm"), "/tmp/new.rpm")
	owners := `
		[ "$(stat -c '%U %a' /var/lib/merchant-orders /var/backups/merchant-orders)" = "$(printf 'merchant-orders 700\nmerchant-orders 700')" ]
		[ "$(stat -c '%U:%G %a' /etc/merchant-orders/environment)" = "root:merchant-orders 640" ]
	`
	m.script(t, asUser+`
		rpm --install --nodeps /tmp/old.rpm
		[ "$(systemctl is-active merchant-orders || true)" = inactive ]
		[ "$(systemctl is-enabled merchant-orders || true)" = disabled ]
	`+owners+`
		orders merchant add --id 355 --name "Our Store"
		echo 'MERCHANT_ORDERS_BASE_URL=https://orders.example.com' >>/etc/merchant-orders/environment
		systemctl enable --now merchant-orders merchant-orders-check.timer
		ready
		before=$(systemctl show --value -p MainPID merchant-orders)
		rpm --upgrade --nodeps /tmp/new.rpm
		ready
		[ "$(systemctl show --value -p MainPID merchant-orders)" != "$before" ]
		[ "$(readlink /proc/"$(systemctl show --value -p MainPID merchant-orders)"/exe)" = /usr/bin/merchant-orders ]
		merchant-orders version | grep ' `+newVersion+` '
		[ "$(systemctl is-active merchant-orders merchant-orders-check.timer)" = "$(printf 'active\nactive')" ]
		systemctl is-enabled merchant-orders
		orders merchant list | grep 'Our Store'
		grep -q orders.example.com /etc/merchant-orders/environment
	`+owners)
	said := m.script(t, `
		rpm --erase merchant-orders
		[ "$(systemctl is-active merchant-orders merchant-orders-check.timer || true)" = "$(printf 'inactive\ninactive')" ]
		[ -z "$(find /etc/systemd/system -name 'merchant-orders*')" ]
		[ ! -e /usr/bin/merchant-orders ]
		[ -f /var/lib/merchant-orders/orders.db ]
		grep -q orders.example.com /etc/merchant-orders/environment.rpmsave
	`)
	testenv.Contains(t, "message of the removal", said, "the data stays in /var/lib/merchant-orders")
}

// maxExposure is the highest exposure of a unit by the count of systemd-analyze,
// in tenths.
const maxExposure = "20"

// verifyUnits checks the installed units with systemd's own tools.
func verifyUnits(t *testing.T, m machine) {
	t.Helper()
	output, err := m.run("", "bash", "-c", "systemd-analyze verify /usr/lib/systemd/system/merchant-orders*.{service,timer}")
	if err != nil || output != "" {
		t.Errorf("systemd-analyze verify: %v\n%s", err, output)
	}
	for _, unit := range []string{"", "-backup", "-check", "-purge"} {
		output, err := m.run("", "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold="+maxExposure,
			"/usr/lib/systemd/system/merchant-orders"+unit+".service")
		if err != nil {
			t.Errorf("systemd-analyze security: %v\n%s", err, output)
		}
	}
}
