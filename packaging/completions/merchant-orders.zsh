#compdef merchant-orders merchant-orders-admin
# Completion of merchant-orders for zsh. The program itself knows the words.
local -a candidates
candidates=("${(@f)$(merchant-orders complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
if [[ -n $candidates ]]; then
	candidates=("${(@)candidates//$'\t'/:}")
	_describe merchant-orders candidates
else
	_files
fi
