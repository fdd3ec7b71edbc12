-- The script of wrk. It sends the request of the command line. If the path
-- contains NUMBER, each request has a random number there. The arguments are
-- the token, an entity tag or nothing, the format of the number, its lowest and
-- its highest value, and a seed.
function init(args)
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  if args[2] ~= "" then
    wrk.headers["If-None-Match"] = args[2]
  end
  local format, low, high = args[3], tonumber(args[4]), tonumber(args[5])
  local before, after = string.match(wrk.format(), "^(.-)NUMBER(.*)$")
  if before then
    math.randomseed(tonumber(args[6]))
    -- Calling wrk.format for each request would make wrk the bottleneck.
    request = function()
      return before .. string.format(format, math.random(low, high)) .. after
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("result %d %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors.status, errors.connect + errors.read + errors.write))
end
