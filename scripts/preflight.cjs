// The first thing every command runs. Plain old JavaScript, because its one job is to run on a
// Node that is too old for the rest and to say what to do.
var major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  var fs = require("fs");
  var path = require("path");
  var bundled = path.join(__dirname, "..", "node_modules", ".bin", "node");
  process.stderr.write(
    "This project needs Node 24, and this is Node " +
      process.versions.node +
      ": " +
      (fs.existsSync(bundled)
        ? "start it through npm (`npm run …`, `npx …`), which uses the Node 24 that is installed beside it.\n"
        : "run `npx npm@11 ci`, which brings Node 24 along (npm 10 leaves it out), or install Node 24 yourself.\n"),
  );
  process.exit(1);
}
