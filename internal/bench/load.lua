-- What wrk asks for: the request of its command line again and again, or, where
-- the path has NUMBER in it, another number from the lowest to the highest each
-- time. The arguments are the token, an entity tag or nothing, the form of the
-- number, its bounds and a seed.
function init(args)
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  if args[2] ~= "" then
    wrk.headers["If-None-Match"] = args[2]
  end
  local form, low, high = args[3], tonumber(args[4]), tonumber(args[5])
  local before, after = string.match(wrk.format(), "^(.-)NUMBER(.*)$")
  if before then
    math.randomseed(tonumber(args[6]))
    -- Put together by hand: wrk.format for each request would make wrk the
    -- bottleneck.
    request = function()
      return before .. string.format(form, math.random(low, high)) .. after
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("figures %d %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors.status, errors.connect + errors.read + errors.write))
end
