// After npm ci: takes the bundled Node out of the way where it does not start (on musl, say) or is
// older than the Node 24 that npm runs on. Plain old JavaScript, for it runs on any Node.
var fs = require("fs");
var path = require("path");

var bin = path.join(__dirname, "..", "node_modules", ".bin");
var names = ["node", "node.cmd", "node.ps1"]; // npm's links, on Windows too
var there = fs.existsSync(path.join(bin, "node"));
// package.json starts this file with the bundled Node, and with npm's own when that one fails.
var bundled = process.execPath.indexOf("node_modules") !== -1 ? process.versions.node : undefined;
var own = (/ node\/v(\S+)/.exec(process.env.npm_config_user_agent || "") || [])[1];

if (there && own && (bundled ? isNewer(own, bundled) : true)) {
  names.forEach(function (name) {
    fs.rmSync(path.join(bin, name), { force: true });
  });
  process.stderr.write(
    (bundled
      ? "Your Node " + own + " is newer than the bundled " + bundled + " and takes its place"
      : "The bundled Node does not start on this system: your own, " + own + ", takes its place") +
      (Number(own.split(".")[0]) < 24 ? ", but this project needs Node 24: install it.\n" : ".\n"),
  );
}

/** Whether `a` is a later Node of the same major version. */
function isNewer(a, b) {
  var left = a.split(".").map(Number);
  var right = b.split(".").map(Number);
  return (
    left[0] === right[0] && (left[1] > right[1] || (left[1] === right[1] && left[2] > right[2]))
  );
}
