#!/bin/sh
# A peer without a decoder: it returns its input, with the checksum in $CHECKSUM. $FAULT makes it
# misbehave. The tests install it as `gsoap/peer`.
message="$(dirname "$0")/message"
while read -r request workload n length; do
    case "$request" in
    hello)
        test "$FAULT" = silent && exit 3
        test "$FAULT" = cold && warm=',"warm":200'
        echo '{"peer":"fake","version":"1","workloads":["decode-ints","encode-ints"]'"$warm"'}' ;;
    prepare)
        head -c "$length" > "$message"
        if test "$FAULT" = refuses; then echo '{"ok":false,"error":"too hard"}'
        else echo "{\"ok\":true,\"checksum\":\"$CHECKSUM\",\"bytes\":$length}"; fi ;;
    run)
        test "$FAULT" = dies && exit 3
        test "$FAULT" = cold && sleep 0.05 && echo "$workload" >> "$(dirname "$0")/counts"
        count=$workload times=1000
        test "$FAULT" = lazy && count=1
        while test "$count" -gt 1; do times="$times,1000" count=$((count - 1)); done
        echo "{\"ns\":[$times],\"checksum\":\"$CHECKSUM\",\"peak_bytes\":4096}" ;;
    output)
        test "$FAULT" = garbles && sed -i 's/>2</>3</' "$message"
        test "$FAULT" = rambles && echo 'well, er' && continue
        wc -c < "$message"
        cat "$message" ;;
    quit) exit 0 ;;
    esac
done
