# Completion of merchant-orders for bash. The program itself knows the words.
_merchant_orders() {
	local IFS=$'\n'
	COMPREPLY=($(merchant-orders complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _merchant_orders merchant-orders merchant-orders-admin
