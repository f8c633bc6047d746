# bash completion of gpuhelperctl(8), which itself knows what could come next; where it says nothing, files are completed.
_gpuhelperctl()
{
	local IFS=$'\n'
	COMPREPLY=($(gpuhelperctl complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _gpuhelperctl gpuhelperctl
