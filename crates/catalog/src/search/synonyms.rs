//! Everyday words for what tools call differently.

use std::{collections::HashMap, sync::LazyLock};

use super::words::{Term, Words};

/// Words of one row stand for each other. General vocabulary of software and offices, kept small on purpose: each
/// row must be true of any catalog, and none is there for one server or one question. Chinese words are there
/// because many servers describe themselves in Chinese and are asked in English, or the other way round; they are
/// two characters long, as the index cuts them.
const ROWS: &[&[&str]] = &[
    // What tools do.
    &[
        "create", "make", "add", "new", "generate", "build", "insert", "创建", "新建", "添加", "生成",
    ],
    &["delete", "remove", "erase", "drop", "clear", "删除"],
    &[
        "edit", "update", "modify", "change", "set", "alter", "修改", "更新",
    ],
    &[
        "show",
        "list",
        "display",
        "view",
        "browse",
        "enumerate",
        "列表",
        "查看",
    ],
    &[
        "find", "search", "query", "lookup", "locate", "discover", "搜索", "查询", "查找",
    ],
    &["get", "fetch", "retrieve", "obtain", "获取"],
    &["read", "open", "load", "get", "读取", "打开"],
    &["save", "store", "write", "export", "保存", "写入"],
    &["send", "post", "publish", "share", "发送", "发布"],
    &["run", "execute", "start", "launch", "invoke", "执行", "运行"],
    &["stop", "cancel", "abort", "terminate", "kill", "停止", "取消"],
    &["convert", "transform", "export", "转换"],
    &["compare", "diff", "difference", "comparison", "比较"],
    &["check", "verify", "validate", "检查"],
    &["calculate", "compute", "math", "calculator", "evaluate", "计算"],
    &["merge", "combine", "join", "concatenate", "合并"],
    &["copy", "duplicate", "clone", "复制"],
    &["move", "rename", "移动"],
    &["upload", "attach", "import", "上传"],
    &["download", "下载"],
    &["summarize", "summary", "abstract", "overview", "摘要"],
    &[
        "analyze",
        "analysis",
        "analytics",
        "statistics",
        "stats",
        "分析",
        "统计",
    ],
    &["recommend", "suggest", "推荐"],
    &["draw", "plot", "paint", "render", "visualize", "绘制"],
    &["translate", "翻译"],
    &["extract", "parse", "提取"],
    &["book", "reserve", "reservation", "预订"],
    &["buy", "purchase", "order", "购买"],
    &["choose", "select", "pick", "选择"],
    &["navigate", "visit", "browse", "导航"],
    &["type", "fill", "enter", "input", "输入"],
    &["click", "press", "tap", "点击"],
    // What they do it to.
    &["ticket", "issue", "bug", "task"],
    &["task", "todo", "reminder", "任务"],
    &["email", "mail", "message", "邮件"],
    &["chat", "message", "conversation", "消息"],
    &["folder", "directory", "dir", "目录"],
    &["file", "document", "doc", "文件", "文档"],
    &["text", "content", "文本", "内容"],
    &["picture", "image", "photo", "图片", "图像"],
    &["website", "webpage", "page", "site", "url", "web", "网页", "网站"],
    &["meeting", "event", "appointment", "calendar", "日历"],
    &["repo", "repository", "project", "仓库", "项目"],
    &["chart", "graph", "plot", "diagram", "图表"],
    &["spreadsheet", "excel", "sheet", "workbook", "xlsx", "csv", "表格"],
    &["presentation", "slide", "powerpoint", "ppt", "pptx", "幻灯"],
    &["word", "docx"],
    &["markdown", "md"],
    &["table", "database", "sql"],
    &["person", "people", "user", "member", "contact", "用户"],
    &["account", "profile", "user"],
    &["price", "cost", "quote", "rate", "价格"],
    &["weather", "forecast", "temperature", "天气"],
    &["directions", "route", "navigation", "路线"],
    &["info", "information", "detail", "metadata", "信息", "详情"],
    &["news", "headline", "story", "article", "新闻", "资讯"],
    &[
        "trend", "trending", "hot", "popular", "rank", "top", "热门", "热榜", "热搜", "排行",
    ],
    &["stock", "ticker", "equity", "share", "股票"],
    &["company", "business", "公司"],
    &["paper", "publication", "article", "论文"],
    &["wiki", "wikipedia"],
    &["now", "today", "current", "当前"],
    &["date", "time", "clock", "时间", "日期"],
    &["location", "place", "address", "coordinates", "位置", "地址"],
    &["music", "audio", "sound", "song", "音乐"],
    &["video", "movie", "film", "视频"],
    &["recipe", "dish", "meal", "food", "cook", "菜谱"],
    &["code", "script", "program", "代码"],
    &["comment", "reply", "note", "评论"],
    &["crypto", "cryptocurrency", "coin", "bitcoin", "btc"],
    &["product", "item", "goods", "商品"],
    &["definition", "meaning"],
    &["package", "library", "dependency", "module"],
    &["hotel", "accommodation", "lodging", "酒店"],
    &["train", "railway", "火车", "列车"],
    &["ticket", "车票"],
    &["car", "vehicle"],
];

/// The terms of all rows, and what each may be replaced by. Terms, not words: `fetching` asks like `fetch`.
struct Table {
    numbers: HashMap<Term, u16>,
    terms: Vec<Term>,
    /// For every term, the numbers of the other terms of all rows it is in.
    others: Vec<Vec<u16>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let words = Words::default();
    let mut table = Table {
        numbers: HashMap::new(),
        terms: Vec::new(),
        others: Vec::new(),
    };
    for row in ROWS {
        let numbers: Vec<u16> = row.iter().map(|word| table.number(words.stem(word))).collect();
        for number in &numbers {
            if let Some(known) = table.others.get_mut(usize::from(*number)) {
                for other in &numbers {
                    if other != number && !known.contains(other) {
                        known.push(*other);
                    }
                }
            }
        }
    }
    table
});

impl Table {
    fn number(&mut self, term: Term) -> u16 {
        let next = self.terms.len() as u16;
        let number = *self.numbers.entry(term.clone()).or_insert(next);
        if number == next {
            self.terms.push(term);
            self.others.push(Vec::new());
        }
        number
    }
}

/// All terms that others stand for; their numbers are their places.
pub(super) fn terms() -> impl Iterator<Item = &'static str> {
    TABLE.terms.iter().map(String::as_str)
}

/// The numbers of the terms that stand for `term`.
pub(super) fn of(term: &str) -> &'static [u16] {
    let number = TABLE.numbers.get(term);
    number
        .and_then(|number| TABLE.others.get(usize::from(*number)))
        .map(Vec::as_slice)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_term_are_joined_whatever_its_ending() {
        let words = Words::default();
        let others = |word: &str| -> Vec<&str> {
            let others = of(&words.stem(word)).iter();
            others
                .map(|other| TABLE.terms[usize::from(*other)].as_str())
                .collect()
        };
        assert_eq!(others("tickets"), ["issu", "bug", "task", "车票"]);
        assert_eq!(others("wikipedia"), ["wiki"]);
        assert_eq!(others("zyzzyva"), [] as [&str; 0]);
    }
}
