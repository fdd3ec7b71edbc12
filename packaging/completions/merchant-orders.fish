# Completion of merchant-orders for fish. The program itself knows the words.
function __merchant_orders_complete
	set --local words (commandline --tokenize --cut-at-cursor --current-process) (commandline --current-token)
	set --local candidates (merchant-orders complete -- $words[2..] 2>/dev/null)
	if set --query candidates[1]
		printf '%s\n' $candidates
	else
		__fish_complete_path (commandline --current-token)
	end
end
complete --command merchant-orders --command merchant-orders-admin --no-files --arguments '(__merchant_orders_complete)'
