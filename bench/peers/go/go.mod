module deltasoap/bench/peers/go

go 1.19
