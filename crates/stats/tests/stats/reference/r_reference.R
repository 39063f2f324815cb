# Reference figures for the tests of deadheat-stats, by R (base R alone): a second opinion on what decides a verdict.
#
#     Rscript r_reference.R > r.json

set.seed(20260301)

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")

holm <- function(n, power) {
  p <- runif(n)^power
  sprintf('{"p": %s, "adjusted": %s}', numbers(p), numbers(p.adjust(p, "holm")))
}

paired <- function(n, effect) {
  a <- exp(rnorm(n, log(10000), 0.02))
  b <- a * exp(0.02 * rt(n, 3)) / effect
  ratios <- log(a / b)
  test <- t.test(ratios)
  sprintf('{"kind": "lognormal", "log_ratios": %s, "ratio": %.17g, "p": %.17g, "low": %.17g, "high": %.17g}',
          numbers(ratios), exp(test$estimate), test$p.value, exp(test$conf.int[1]), exp(test$conf.int[2]))
}

rows <- function(name, lines) sprintf('"%s": [\n%s\n]', name, paste(lines, collapse = ",\n"))

cat("{\n")
cat(paste(c(
  sprintf('"version": "%s"', R.version.string),
  rows("holm", mapply(holm, c(1, 2, 6, 28, 190), c(1, 2, 3, 8, 12))),
  rows("paired", unlist(lapply(2:30, function(n) sapply(c(1, 1.05), function(effect) paired(n, effect)))))
), collapse = ",\n"))
cat("\n}\n")
