#!/bin/sh
# Runs a tool of the go command for its flag -toolexec. What the linker writes is kept in the folder of
# this file, named by the build ID, which stands for all that is linked. The go command links the
# binaries of tests again for each run, because it does not keep them.
folder=${0%/*}
id= output= previous=
for argument; do
	case $argument in -buildid=*) id=$(printf %s "${argument#*=}" | tr / .) ;; esac
	[ "$previous" != -o ] || output=$argument
	previous=$argument
done
case $1 in */link) ;; *) exec "$@" ;; esac
[ "$id" ] && [ "$output" ] || exec "$@"
[ ! -e "$folder/$id" ] || exec cp "$folder/$id" "$output"
"$@" || exit
# Without the copy, for example because the disk is full, the next run links again.
{ cp "$output" "$folder/$id.$$" && mv "$folder/$id.$$" "$folder/$id"; } 2>/dev/null || rm -f "$folder/$id.$$"
