// The reference and the processor share no code; here they are asked the same questions about
// comma-separated values.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "calm_run.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

const std::string header = "k,t,i,r,s\n";

std::string outcome_of(const std::string& text, const SmallJob& job, std::uint64_t seed = 1,
                       const std::vector<std::string>& faults = {}) {
  const Subject subject(spec_of(job), Input{{{"p.jsonl", text, ""}, {"q.jsonl", header, ""}}});
  return story_of(run(case_of(subject, faults, seed), subject));
}

SmallJob csv_job() {
  SmallJob job;
  job.format = "csv";
  job.on_bad_record = "skip";
  job.aggregate =
      R"-(n = "count()", ci = "count(i)", cs = "count(s)", si = "sum(i)", sr = "sum(r)", )-"
      R"-(d = "count_distinct(s)", li = "min(i)", gr = "max(r)")-";
  return job;
}

}  // namespace

TEST_CASE("processor and reference agree about which lines of cells are bad",
          "[properties][agreement]") {
  for (const std::string& line : std::vector<std::string>{"a,1,,,",
                                                          "a,1,5,2.5,x",
                                                          "a,1,5,2.5",
                                                          "a,1,5,2.5,x,",
                                                          "a",
                                                          "a,,,,",
                                                          ",1,,,",
                                                          R"("",1,"","","")",
                                                          R"("a","1","5","2.5","x")",
                                                          R"(a,1,,,"x, y")",
                                                          R"(a,1,,,"say ""no""")",
                                                          R"(a,1,,,"""")",
                                                          R"(a,1,,,""")",
                                                          R"(a,1,,,"x)",
                                                          R"(a,1,,,"x"y)",
                                                          R"(a,1,,,x"y)",
                                                          R"(a,1,,, "x")",
                                                          R"(a,1,,,"x" )",
                                                          R"("a"",1,,,)",
                                                          "a,007,,,",
                                                          "a,-0,,,",
                                                          "a,+1,,,",
                                                          "a, 1,,,",
                                                          "a,1.0,,,",
                                                          "a,1e3,,,",
                                                          "a,253402300800000,,,",
                                                          "a,-62135596800001,,,",
                                                          "a,1,9223372036854775807,,",
                                                          "a,1,9223372036854775808,,",
                                                          "a,1,-9223372036854775808,,",
                                                          "a,1,-9223372036854775809,,",
                                                          "a,1,00000000000000000000000000000012,,",
                                                          "a,1,0x10,,",
                                                          "a,1,-,,",
                                                          "a,1,,1e308,",
                                                          "a,1,,1e309,",
                                                          "a,1,,1e-400,",
                                                          "a,1,,0e-400,",
                                                          "a,1,,-0.000,",
                                                          "a,1,,5e-324,",
                                                          "a,1,,2e-324,",
                                                          "a,1,,1.7976931348623159e308,",
                                                          "a,1,,9007199254740993,",
                                                          "a,1,,.5,",
                                                          "a,1,,5.,",
                                                          "a,1,,1.e3,",
                                                          "a,1,,1e+3,",
                                                          "a,1,,1e,",
                                                          "a,1,,nan,",
                                                          "a,1,,infinity,",
                                                          "a,1,,0x1p3,",
                                                          "a,1,,007.5,",
                                                          "a,1,,--1,",
                                                          "a,1,,,\xC3\xA9",
                                                          "a,1,,,\xFF",
                                                          std::string("a,1,,,x\0y", 9),
                                                          "a,1,,,x\ry",
                                                          ",,,,",
                                                          "\"\n\""}) {
    CAPTURE(line);
    CHECK(outcome_of(header + "good,0,1,1,s\n" + line + "\ngood,5,,,\n", csv_job()) == "held");
  }
}

TEST_CASE("processor and reference agree about columns and how lines end",
          "[properties][agreement]") {
  for (const std::string& text : std::vector<std::string>{
           "s,r,i,t,k\nx,1,2,3,a\ny,,,5,b\n", "other,k,t,i,more,r,s\n?,a,3,2,?,1,x\n",
           "k,t,i,r,s\r\na,3,2,1,x\r\n", "\xEF\xBB\xBFk,t,i,r,s\na,3,2,1,x",
           "\n\nk,t,i,r,s\n\na,3,2,1,x\n \t\n", "\"k\",\"t\",i,\"r\",s\na,3,,,\n", "k,t,i,r,s", "",
           "k,t,i,r,s,x,x\na,3,,,,,\n"}) {
    CAPTURE(text);
    CHECK(outcome_of(text, csv_job()) == "held");
  }
  SmallJob job;
  job.format = "csv";
  for (const std::string text : {"k,t,i,r\na,3,2,1\n", "k,t,i,r,s,k\n", "k,t,i,\"r,s\n"}) {
    CAPTURE(text);
    CHECK(complaint_of([&] { outcome_of(text, job); }).find("p.jsonl:1: ") == 0);
    CHECK(complaint_of([&] { outcome_of(text, csv_job()); }).find("p.jsonl:1: ") == 0);
  }
}

TEST_CASE("columns are known again when a reader starts behind the first line",
          "[properties][agreement]") {
  std::string text = "s,r,k,i,t\n";
  for (int i = 0; i < 200; ++i) {
    text += "\"x, " + std::to_string(i % 7) + "\",0." + std::to_string(i) + ",k" +
            std::to_string(i % 3) + "," + std::to_string(i) + "," + std::to_string(i * 50) + "\n";
  }
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(outcome_of(text, csv_job(), seed,
                     {"kill node=worker1 at=400ms down=200ms",
                      "kill node=worker2 at='head_swapped nth=4' down=100ms"}) == "held");
  }
}
