#compdef gpuhelperctl
# zsh completion of gpuhelperctl(8), which itself knows what could come next; where it says nothing, files are completed.
local -a found
found=(${(f)"$(gpuhelperctl complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
if (( $#found )); then
	compadd -- $found
else
	_files
fi
