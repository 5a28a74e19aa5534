-- For wrk: posts the bodies of a folder in turn, and prints what was measured as JSON.
--
--     wrk ... -s requests.lua URL -- FOLDER COUNT MEDIA-TYPE

local requests, sent = {}, 0

function init(arguments)
  local headers = { ["Content-Type"] = arguments[3], ["Accept"] = arguments[3] }
  for number = 0, tonumber(arguments[2]) - 1 do
    local file = assert(io.open(arguments[1] .. "/" .. number, "rb"))
    requests[#requests + 1] = wrk.format("POST", nil, headers, file:read("*a"))
    file:close()
  end
end

function request()
  sent = sent % #requests + 1
  return requests[sent]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests":%d,"seconds":%.6f,"failed":%d,"median":%.3f,"p99":%.3f}\n',
    summary.requests, summary.duration / 1e6, failed, latency:percentile(50), latency:percentile(99)))
end
